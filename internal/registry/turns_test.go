package registry_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// Many instances of one hook come and go at once, as when a deployment restarts: a replica
// writes about once for each, instead of having them race for the revision.
func TestManyInstancesOfOneHookAtOnce(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	r := replica(t, server, registry.Options{Replica: "r"})
	nc := natstest.Conn(t, server)
	sub, err := nc.SubscribeSync("$KV.hooks_registry.hook.h")
	if err != nil {
		t.Fatal(err)
	}
	writes := func() int {
		t.Helper()
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		n, _, err := sub.Pending()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	const n = 60
	ctx := testkit.Within(t, testkit.Patience)
	for what, do := range map[string]func(i int) error{
		"register": func(i int) error {
			reg := hook("h", fmt.Sprint(i))
			reg.Priority = i
			_, err := r.Register(ctx, "ann", reg)
			return err
		},
		"unregister": func(i int) error { return r.Unregister(ctx, "ann", "h", fmt.Sprint(i)) },
	} {
		if what == "unregister" {
			for i := range n {
				register(t, r, hook("h", fmt.Sprint(i)))
			}
		}
		before := writes()
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() {
				if err := do(i); err != nil {
					t.Errorf("%s %d: %v", what, i, err)
				}
			})
		}
		all.Wait()
		if tries := writes() - before; tries < n || tries > 2*n {
			t.Errorf("%s: %d writes for %d instances", what, tries, n)
		}
		if err := r.Unregister(ctx, "ann", "h", ""); err != nil {
			t.Fatal(err)
		}
	}
}
