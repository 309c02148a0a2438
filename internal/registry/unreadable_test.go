package registry_test

import (
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// A hook whose record can't be read may be a guard: every event fails closed until somebody
// registers or removes it.
func TestAnUnreadableRegistrationFailsClosed(t *testing.T) {
	t.Parallel()
	again := func(r *registry.Registry) error {
		_, err := r.Register(t.Context(), "", hook("guard", "j"))
		return err
	}
	for name, c := range map[string]struct {
		record string
		repair func(*registry.Registry) error
	}{
		"registered again": {`{"registration":{"id":"guard","events":"tool:pre"}}`, again},
		"of another hook":  {`{"registration":{"id":"other","events":["tool:pre"]}}`, again},
		"removed":          {`{`, func(r *registry.Registry) error { return r.Unregister(t.Context(), "", "guard", "") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := natstest.Server(t)
			r := replica(t, server, registry.Options{Replica: "here"})
			register(t, r, hook("guard", "i"))
			if _, err := bucketOf(t, server).Put(t.Context(), "hook.guard", []byte(c.record)); err != nil {
				t.Fatal(err)
			}
			testkit.Eventually(t, "another event fails closed", func() bool { return failsClosed(t, r, "tool:post") })
			if err := c.repair(r); err != nil {
				t.Fatal(err)
			}
			testkit.Eventually(t, "the event passes", func() bool { return !failsClosed(t, r, "tool:post") })
		})
	}
}

// failsClosed reports whether an event meets a hook that denies because its condition fails.
func failsClosed(t *testing.T, r *registry.Registry, event string) bool {
	t.Helper()
	table, err := r.Table()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range table.For(event, "s1") {
		if e.Registration.OnFailure == chain.FailClosed && e.Condition != nil {
			_, err := e.Condition(&chain.View{})
			return err != nil && strings.Contains(err.Error(), "register it again")
		}
	}
	return false
}
