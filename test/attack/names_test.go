package attack

import (
	"testing"

	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// TestNoOtherSpellingOfAnEventPasses: an agent sends the event under a name or a subject
// that no hook, or no permission, is for.
func TestNoOtherSpellingOfAnEventPasses(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{Dispatch: dispatch.Options{UnknownEvents: dispatch.DenyUnknown}}, natsx.Options{Inbox: "_INBOX_router"})
	guard(t, s, worker.Registration{ID: "guard"}, denies)
	nc, ctx := natstest.Conn(t, s), testkit.Within(t, testkit.Patience)
	for _, verb := range []string{"emit", "execute"} {
		for _, name := range []string{"Tool.Pre", "tool_pre", "tool-pre", "TOOL.PRE", "tool.pre.x", "tool:pre", "tool.pre:x"} {
			m, err := nc.RequestWithContext(ctx, "hooks."+verb+"."+name, []byte(`{"command":"rm -rf /"}`))
			if err != nil {
				t.Fatal(err)
			}
			if code := m.Header.Get("Nats-Service-Error-Code"); code != "400" {
				t.Errorf("%s %s: code %q, %s; want 400", verb, name, code, m.Data)
			}
		}
	}
}
