package supervisor

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"github.com/hookrouter/hookrouter/internal/natscontext"
	"github.com/hookrouter/hookrouter/internal/natscreds"
)

// Where the command line names the server, the credentials in the user's own home count before
// those that a variable leads to; else the variables do.
func TestCredentialsOfAQuestion(t *testing.T) {
	t.Parallel()
	const server = "nats://127.0.0.1:4222"
	home, moved := t.TempDir(), t.TempDir()
	for dir, router := range map[string]string{filepath.Join(moved, "nats"): "other", filepath.Join(home, ".config", "nats"): "own"} {
		claims := base64.RawURLEncoding.EncodeToString([]byte(`{"nats":{"tags":["` + natscreds.ServerTag + router + `"]}}`))
		creds := filepath.Join(t.TempDir(), "agent.creds")
		if err := os.WriteFile(creds, []byte("-----BEGIN NATS USER JWT-----\na."+claims+".b\n------END NATS USER JWT------\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := natscontext.Write(dir, natscontext.Name(server, "agent"), natscontext.Context{URL: server, Creds: creds}); err != nil {
			t.Fatal(err)
		}
	}
	getenv := func(name string) string { return map[string]string{"XDG_CONFIG_HOME": moved}[name] }
	for _, c := range []struct {
		args   []string
		router string
	}{
		{[]string{"hook-agent", "--server=" + server, "claude-code"}, "OWN"},
		{[]string{"hook-agent", "claude-code"}, "OTHER"},
		{[]string{"hook-agent", "--server=", "claude-code"}, "OTHER"},
	} {
		if q, ok := questionOf(c.args, getenv, func() string { return home }); !ok || q.router != c.router {
			t.Errorf("%v asks %q, %v; want %s", c.args, q.router, ok, c.router)
		}
	}
}
