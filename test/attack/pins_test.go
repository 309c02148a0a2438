package attack

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/pinned"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// fleet starts routers on a server: three, each with the guards of its file.
func fleet(t *testing.T, s nats.InProcessConnProvider, files ...*pinned.Guards) (stop func()) {
	t.Helper()
	var stops []func()
	for i := range 3 {
		o := router.Options{}
		if i < len(files) {
			o.Guards = files[i]
		}
		_, stop := routertest.Start(t, s, o, natsx.Options{Inbox: "_INBOX_router"})
		stops = append(stops, stop)
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// code is the code of the answer to a request, empty for none, and its text.
func code(t *testing.T, nc *nats.Conn, subject, body string) (code, text string) {
	t.Helper()
	m, err := nc.RequestWithContext(testkit.Within(t, testkit.Patience), subject, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return m.Header.Get("Nats-Service-Error-Code"), m.Header.Get("Nats-Service-Error") + string(m.Data)
}

// TestAGuardPinnedByOrderIsNeeded: by every replica once the order is answered, over a
// restart of all, until it is lifted.
func TestAGuardPinnedByOrderIsNeeded(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	stop := fleet(t, s)
	nc, a, ctx := natstest.Conn(t, s), client(t, s), testkit.Within(t, testkit.Patience)
	refused := func(when string) {
		t.Helper()
		for range 50 {
			if x, err := a.Execute(ctx, "tool:pre", command("ls")); x.Permitted() || hookrouter.CodeOf(err) != hookrouter.CodeUnavailable {
				t.Fatalf("%s: %+v, %v; want code 503", when, x, err)
			}
		}
	}
	operate(t, s, "guard.pin", `{"id":"guard","events":["tool:pre"]}`)
	refused("without the guard")
	guard(t, s, worker.Registration{ID: "guard"}, denies)
	if x, err := a.Execute(ctx, "tool:pre", command("ls")); err != nil || !x.Permitted() {
		t.Fatalf("with the guard: %+v, %v", x, err)
	}
	for _, r := range []struct{ subject, body, want string }{
		{"hooks.register.guard", `{"events":["tool:pre"],"on_failure":"deny","mode":"shadow","version":"9.0.0"}`, "403"},
		{"hooks.register.guard", `{"events":["tool:pre"],"on_failure":"deny","priority":9,"version":"9.0.0"}`, "403"},
		{"hooks.register.guard", `{"events":["tool:pre"],"on_failure":"deny","match":"false","version":"9.0.0"}`, "403"},
		{"hooks.unregister.guard", `{}`, "403"},
		{"hooks.guard.pin", `{"id":"guard","events":["tool:post"]}`, "409"},
		{"hooks.guard.pin", `{"id":"guard","events":["tool:pre"],"match":"false"}`, "409"},
		{"hooks.guard.pin", `{"id":"guard","events":["tool:pre"],"priority":9}`, "409"},
	} {
		if got, text := code(t, nc, r.subject, r.body); got != r.want {
			t.Errorf("%s %s: code %q, %s; want %s", r.subject, r.body, got, text, r.want)
		}
		if x, err := a.Execute(ctx, "tool:pre", command("rm -rf /")); err != nil || x.Permitted() {
			t.Errorf("after %s %s: %+v, %v", r.subject, r.body, x, err)
		}
	}
	operate(t, s, "guard.pin", `{"id":"guard","events":["tool:*"]}`)
	refused("with a guard for fewer events")
	stop()
	fleet(t, s)
	refused("after a restart")
	operate(t, s, "guard.unpin", `{"id":"guard"}`)
	for range 20 {
		if x, err := a.Execute(ctx, "tool:pre", command("ls")); err != nil || !x.Permitted() {
			t.Fatalf("unpinned: %+v, %v", x, err)
		}
	}
}

// TestFileAndOrderBothHold: each for its events, and for what a registration may be.
func TestFileAndOrderBothHold(t *testing.T) {
	t.Parallel()
	file, err := pinned.New(pinned.Guard{ID: "guard", Events: []string{"tool:pre"}}, pinned.Guard{ID: "other", Events: []string{"a:b"}})
	ok(t, err)
	s := natstest.Server(t)
	fleet(t, s, file, file, file)
	nc, a, ctx := natstest.Conn(t, s), client(t, s), testkit.Within(t, testkit.Patience)
	hook(t, s, worker.Registration{ID: "guard", OnFailure: "deny"}, denies) // for tool:pre only
	operate(t, s, "guard.pin", `{"id":"guard","events":["tool:post"]}`)
	if got, text := code(t, nc, "hooks.guard.pin", `{"id":"other","events":["a:b"],"priority":1}`); got != "409" || !strings.Contains(text, "--guards") {
		t.Errorf("an order against the file: code %q, %s", got, text)
	}
	for event, wanted := range map[string]bool{"tool:pre": true, "tool:post": false, "tool:error": true} {
		if x, err := a.Execute(ctx, event, command("ls")); x.Permitted() != wanted || (err == nil) != wanted {
			t.Errorf("%s: %+v, %v", event, x, err)
		}
	}
	if got, _ := code(t, nc, "hooks.register.guard", `{"events":["tool:pre"],"on_failure":"deny","version":"9.0.0"}`); got != "403" {
		t.Errorf("a registration that satisfies the file only: code %q", got)
	}
	if got, text := code(t, nc, "hooks.guard.unpin", `{"id":"guard"}`); got != "" || !strings.Contains(text, `"unpinned":true,"in_file":true`) {
		t.Errorf("unpin: code %q, %s", got, text)
	}
	if got, _ := code(t, nc, "hooks.unregister.guard", `{}`); got != "403" {
		t.Errorf("the guard of the file may be removed: code %q", got)
	}
}

// TestAPinThatIsDeletedIsLost: while routers run, and before they start.
func TestAPinThatIsDeletedIsLost(t *testing.T) {
	t.Parallel()
	for when, restart := range map[string]bool{"while routers run": false, "before they start": true} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			s := natstest.Server(t)
			stop := fleet(t, s)
			operate(t, s, "guard.pin", `{"id":"guard","events":["tool:pre"]}`)
			if restart {
				stop()
			}
			js, err := jetstream.New(natstest.Conn(t, s))
			ok(t, err)
			ctx := testkit.Within(t, testkit.Patience)
			if restart {
				stream, err := js.Stream(ctx, "KV_hooks_registry")
				ok(t, err)
				ok(t, stream.Purge(ctx))
				fleet(t, s)
			} else {
				kv, err := js.KeyValue(ctx, "hooks_registry")
				ok(t, err)
				ok(t, kv.Delete(ctx, "pin.guard"))
			}
			a := client(t, s)
			for _, event := range []string{"tool:pre", "tool:post"} {
				testkit.Until(t, ctx, event+" is refused since a pin is lost", func() bool {
					x, err := a.Execute(ctx, event, command("ls"))
					if event == "tool:pre" && x.Permitted() {
						t.Fatal("permitted without the guard")
					}
					return err != nil && (strings.Contains(err.Error(), "lost") || hookrouter.CodeOf(err) == hookrouter.CodeUnavailable || strings.Contains(err.Error(), "no router"))
				})
			}
			accept(t, s)
			testkit.Until(t, ctx, "routers serve again", func() bool { _, err := a.Execute(ctx, "tool:pre", command("ls")); return err == nil })
		})
	}
}
