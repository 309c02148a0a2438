package hookctl_test

import (
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

func TestGrantsBeyondASession(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	f.Run("--text", "approvals", "grants").See(t, cli.ExitOK, "nothing is always allowed beyond a session")
	f.Run("approvals", "grants", "--agent", "nats agent/coder").See(t, cli.ExitOK, `{"grants":[]}`)
	f.Run("approvals", "revoke", "nosuch").See(t, cli.ExitOK, `{"approval_id":"nosuch","revoked":false}`)
	f.Run("--text", "approvals", "revoke", "nosuch").See(t, cli.ExitOK, "there is no such grant; `hookctl approvals grants` lists them, and `hookctl session show` those of a session")

	_, id := f.Asking(chain.Question("Really?", "Allow always", "Deny"))
	if got := f.Run("approvals", "show", id); strings.Contains(got.Stdout, `"scopes"`) {
		t.Errorf("nobody is proven, and scopes are offered: %s", got.Stdout)
	}
	if got := f.Run("approvals", "answer", id, "Allow always", "--scope", "agent"); got.Code != cli.ExitRefused || !strings.Contains(got.Stderr, "proven sender") {
		t.Errorf("an agent that nobody proved: %+v", got)
	}
	if got := f.Run("approvals", "answer", id, "Deny", "--for", "1h"); got.Code == cli.ExitOK || !strings.Contains(got.Stderr, "go with an Allow always") {
		t.Errorf("a denial with an end: %+v", got)
	}
	f.Run("--text", "approvals", "answer", id, "Allow always", "--for", "1h").See(t, cli.ExitOK, "accepted: Allow always")
	if got := f.Run("--text", "approvals", "show", id); !strings.Contains(got.Stdout, `granted, "Allow always" by unauthenticated, until`) {
		t.Errorf("%s; want that it says how long it holds", got.Stdout)
	}
	if got := f.Run("--text", "why", id); !strings.Contains(got.Stdout, `granted ("Allow always") for the session until `) {
		t.Errorf("%s%s; want that it says what it is for", got.Stdout, got.Stderr)
	}
}
