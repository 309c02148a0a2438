package hookctl_test

import (
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	whole "github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// ruled returns hookctl on a router with approval rules.
func ruled(t *testing.T, rules string) *clitest.Fixture {
	t.Helper()
	list, err := approval.ParseRules("rules.yaml", []byte(rules))
	if err != nil {
		t.Fatal(err)
	}
	s := natstest.Listening(t)
	routertest.Start(t, s, router.Options{Dispatch: dispatch.Options{Rules: list}})
	return &clitest.Fixture{T: t, Hookctl: whole.Run, Env: map[string]string{"HOOKCTL_FORMAT": "json", "NATS_URL": s.ClientURL()}, NC: natstest.Conn(t, s)}
}

// A rule in shadow is shown to the person who decides, and recorded; a person is still asked.
func TestARuleInShadowIsToldAndAnswersNothing(t *testing.T) {
	t.Parallel()
	f := ruled(t, "rules:\n  - {name: checks, decision: allow, mode: shadow, tool: Bash, command: acme check conf/*.yaml}\n")
	b, id := f.Asking(chain.Question("Run it?"), `{"tool_name":"Bash","tool_input":{"command":"acme check conf/a.yaml"}}`)
	const told = "rule checks would allow"
	if got := f.Run("--text", "approvals", "show", id); !strings.Contains(got.Stdout, told) {
		t.Errorf("show: %+v", got)
	}
	f.Run("approvals", "answer", id, "Deny")
	if got := b.Line(); !strings.Contains(got, `"action":"deny"`) {
		t.Errorf("the agent got %s", got)
	}
	if got := f.Run("--text", "why", id); got.Code != cli.ExitOK || !strings.Contains(got.Stdout, told) || !strings.Contains(got.Stdout, "denied") {
		t.Errorf("why: %+v", got)
	}
	if got := f.Run("--text", "audit", "show", id); !strings.Contains(got.Stdout, "rule checks, in shadow, would allow") {
		t.Errorf("audit show: %+v", got)
	}
	_, other := f.Asking(chain.Question("Run it?"), `{"tool_name":"Bash","tool_input":{"command":"acme check conf/a.yaml; acme rm x"}}`)
	if got := f.Run("--text", "approvals", "show", other); strings.Contains(got.Stdout, "shadow") {
		t.Errorf("show: %+v", got)
	}
}
