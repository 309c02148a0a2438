package attack

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// TestADisabledHookIsNotCalled: by no replica once the order is answered, whoever registers
// it, over a restart of all, until it is enabled. It is listed, and the registry is as before.
func TestADisabledHookIsNotCalled(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	stop := fleet(t, s)
	nc, a, ctx := natstest.Conn(t, s), client(t, s), testkit.Within(t, testkit.Patience)
	var calls atomic.Int64
	noisy := func(version string) {
		hook(t, s, worker.Registration{ID: "noisy", OnFailure: worker.FailClosed, Version: version}, func(context.Context, worker.Event) (worker.Result, error) {
			calls.Add(1)
			return worker.Deny("noise")
		})
	}
	permitted := func(want bool, when string) {
		t.Helper()
		calls.Store(0)
		for range 20 {
			if x, err := a.Execute(ctx, "tool:pre", command("ls")); err != nil || x.Permitted() != want {
				t.Fatalf("%s: %+v, %v; want permitted: %v", when, x, err, want)
			}
		}
		if called := calls.Load() > 0; called == want {
			t.Fatalf("%s: called: %v", when, called)
		}
	}
	listed := func() *agent.Disabled {
		t.Helper()
		list, err := a.Registry(ctx)
		if err != nil || len(list) != 1 || list[0].ID != "noisy" {
			t.Fatalf("%+v, %v", list, err)
		}
		return list[0].Disabled
	}
	noisy("1.0.0")
	permitted(false, "enabled")
	operate(t, s, "hook.disable", `{"id":"noisy","reason":"too loud"}`)
	permitted(true, "disabled")
	if d := listed(); d == nil || d.Reason != "too loud" || d.Time.IsZero() {
		t.Errorf("listed as %+v", d)
	}
	noisy("2.0.0")
	permitted(true, "registered anew in another version")
	operate(t, s, "unregister.noisy", `{}`)
	noisy("2.0.0")
	permitted(true, "removed and registered again")
	stop()
	fleet(t, s)
	permitted(true, "after a restart of all routers")
	operate(t, s, "hook.enable", `{"id":"noisy"}`)
	permitted(false, "enabled again")
	if d := listed(); d != nil {
		t.Errorf("still listed as %+v", d)
	}
	if got, text := code(t, nc, "hooks.hook.enable", `{"id":"noisy"}`); got != "" || text != `{"enabled":false}` {
		t.Errorf("enabled twice: %s %s", got, text)
	}
	for _, body := range []string{`{}`, `{"id":"a.b"}`, `{"id":"noisy","reason":"two\nlines"}`, `[]`} {
		if got, text := code(t, nc, "hooks.hook.disable", body); got != "400" {
			t.Errorf("%s: %s %s", body, got, text)
		}
	}
}

// TestAPinnedGuardCannotBeDisabled: unpinning it is a right of its own. A guard that was
// disabled before a file pinned it opens nothing.
func TestAPinnedGuardCannotBeDisabled(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	fleet(t, s)
	nc, a, ctx := natstest.Conn(t, s), client(t, s), testkit.Within(t, testkit.Patience)
	guard(t, s, worker.Registration{ID: "guard"}, denies)
	operate(t, s, "guard.pin", `{"id":"guard","events":["tool:pre"]}`)
	if got, text := code(t, nc, "hooks.hook.disable", `{"id":"guard"}`); got != "403" || !strings.Contains(text, "pinned guard") {
		t.Errorf("%s %s", got, text)
	}
	if x, err := a.Execute(ctx, "tool:pre", command("rm -rf /")); err != nil || x.Permitted() {
		t.Errorf("%+v, %v", x, err)
	}
	operate(t, s, "guard.unpin", `{"id":"guard"}`)
	operate(t, s, "hook.disable", `{"id":"guard"}`)
	if x, err := a.Execute(ctx, "tool:pre", command("rm -rf /")); err != nil || !x.Permitted() {
		t.Errorf("unpinned and disabled: %+v, %v", x, err)
	}
	if got, text := code(t, nc, "hooks.guard.pin", `{"id":"guard","events":["tool:pre"]}`); got != "409" {
		t.Errorf("pinned while it is disabled: %s %s", got, text)
	}
}
