package integration

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
)

// A chain may have begun before a hook was removed. Once the removal is answered,
// nobody need listen for the hook, whatever the chain still means to call; a guard
// whose workers are gone is another matter.
func TestAHookThatIsRemovedFailsNoChainUnderWay(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, registration, unregister, denies string }{
		{"a hook that may fail", `{"events":["e"],"priority":1,"instance":"i"}`, `{"instance":"i"}`, ""},
		{"a guard that is retired", `{"events":["e"],"priority":1,"on_failure":"deny"}`, `{}`, ""},
		{"a guard whose worker goes", `{"events":["e"],"priority":1,"on_failure":"deny","instance":"i"}`, `{"instance":"i"}`, "second"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx := testkit.Within(t, 20*time.Second)
			s := natstest.Server(t)
			routertest.Start(t, s, router.Options{})
			nc, agent := natstest.Conn(t, s), natstest.Conn(t, s)
			inside, goOn := make(chan struct{}), make(chan struct{})
			hook(t, ctx, nc, "first", `{"events":["e"]}`, func(*nats.Msg) []byte {
				close(inside)
				<-goOn
				return []byte(`{}`)
			})
			if m := request(t, ctx, agent, "hooks.register.second", nil, tt.registration); code(m) != "" {
				t.Fatal(m.Header)
			}
			answer := make(chan *nats.Msg, 1)
			go func() {
				m, err := agent.RequestWithContext(ctx, "hooks.emit.e", []byte(`{}`))
				if err != nil {
					t.Error(err)
				}
				answer <- m
			}()
			take(t, ctx, inside)
			if m := request(t, ctx, agent, "hooks.unregister.second", nil, tt.unregister); code(m) != "" {
				t.Fatal(m.Header)
			}
			close(goOn)
			m := take(t, ctx, answer)
			if m.Header.Get("Hook-Denied-By") != tt.denies || m.Header.Get("Hook-Failed-Open") != "" || m.Header.Get("Hook-Count") != "1" {
				t.Errorf("%v %s", m.Header, m.Data)
			}
			if denied := strings.Contains(string(m.Data), `"deny"`); denied != (tt.denies != "") {
				t.Errorf("decided %s", m.Data)
			}
		})
	}
}
