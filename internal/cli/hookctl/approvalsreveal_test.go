package hookctl_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/natscontext"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// withIdentities returns an admin's hookctl with a router that uses credentials, and the directory
// of the authority.
func withIdentities(t *testing.T) (f *clitest.Fixture, auth string) {
	t.Helper()
	dir, home := natstest.StoreDir(t), t.TempDir()
	env := map[string]string{"HOOKCTL_FORMAT": "json", "HOME": home, "XDG_STATE_HOME": home}
	auth = filepath.Join(dir, "auth")
	s, err := server.Start(t.Context(), server.Options{
		NATS: natsx.Options{Prefix: "hooks"}, Listen: "127.0.0.1:0", StoreDir: dir, AuthDir: auth,
		ContextDir: natscontext.Dir(func(name string) string { return env[name] }),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	up, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- s.Run(ctx, func() { close(up) }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	testkit.Closed(t, "the router to serve", up)
	env["NATS_URL"] = s.ClientURL()
	conn := natstest.Connect(t, natsx.Options{URL: s.ClientURL(), Creds: filepath.Join(auth, "creds", "worker.creds")})
	return &clitest.Fixture{T: t, Hookctl: hookctl.Run, Env: env, NC: conn.Conn()}, auth
}

// An admin sees the secrets of an approval request, and nobody else does.
func TestSecretsAreRevealedOnDemand(t *testing.T) {
	t.Parallel()
	const secret = "AKIAIOSFODNN7EXAMPLE"
	f, auth := withIdentities(t)
	_, id := f.Asking(chain.Question("Run it?"), `{"tool_name":"Bash","tool_input":{"command":"curl -H `+secret+`"}}`)
	reveal := "secrets are masked; this shows them, and is recorded:\n  hookctl approvals reveal " + id + "\n"
	if got := f.Run("--text", "approvals", "show", id); got.Code != cli.ExitOK || strings.Contains(got.Stdout, secret) || !strings.Contains(got.Stdout, "[REDACTED:") || !strings.Contains(got.Stdout, reveal) {
		t.Errorf("show: %+v", got)
	}
	for _, format := range []string{"--text", "--json"} {
		if got := f.Run(format, "approvals", "reveal", id); got.Code != cli.ExitOK || !strings.Contains(got.Stdout, secret) || strings.Contains(got.Stdout, reveal) {
			t.Errorf("reveal %s: %+v", format, got)
		}
	}
	for command, want := range map[string]string{ // who saw them is shown wherever the request is
		"audit query --kind approval.revealed": "revealed  " + id + "; by nats admin/admin",
		"audit show " + id:                     "its secrets were shown to nats admin/admin",
		"why " + id:                            "revealed its secrets, to nats admin/admin\n",
	} {
		if got := f.Run(append(strings.Fields(command), "--text", "--wide")...); got.Code != cli.ExitOK || !strings.Contains(got.Stdout, want) {
			t.Errorf("%s: %+v; want %q", command, got, want)
		}
	}
	if got := f.Run("approvals", "reveal", id, "--creds", filepath.Join(auth, "creds", "agent.creds")); got.Code == cli.ExitOK || strings.Contains(got.Stdout, secret) {
		t.Errorf("an agent: %+v", got)
	}
	open := clibus.New(t, hookctl.Run)
	_, id = open.Asking(chain.Question("Run it?"), `{"tool_name":"Bash","tool_input":{"command":"`+secret+`"}}`)
	open.Run("approvals", "reveal", id).Want(t, cli.ExitRefused, "", "hookctl: reveal the secrets of approval "+id+": secrets are shown only to proven identities, but this router requires no credentials (403)\n")
}
