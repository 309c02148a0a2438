package hookctl_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
)

// guarded starts a NATS server that requires a password and lets nobody emit.
func guarded(t *testing.T) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true,
		Users: []*server.User{
			{Username: "ada", Password: "secret"},
			{Username: "bob", Password: "secret", Permissions: &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{"hooks.>"}}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not start")
	}
	return s.ClientURL()
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestIdentities(t *testing.T) {
	t.Parallel()
	url := guarded(t)
	const noRouter = "no router answers on hooks.emit.x"
	dir := t.TempDir()
	write(t, dir+"/nats/context/ada.json", `{"description":"","url":"`+url+`","user":"ada","password":"secret","color_scheme":""}`)
	write(t, dir+"/nats/context/bob.json", `{"url":"`+url+`","user":"bob","password":"secret"}`)
	write(t, dir+"/nats/context/nsc.json", `{"nsc":"nsc://o/a/u"}`)
	write(t, dir+"/nats/context/broken.json", `{"url":`)
	for name, tt := range map[string]struct {
		env  map[string]string
		args string
		code int
		text string
	}{
		"flags":                       {nil, "-s " + url + " --user ada --password secret", cli.ExitDisconnected, noRouter},
		"variables":                   {map[string]string{"HOOK_ROUTER_NATS_URL": url, "NATS_USER": "ada", "NATS_PASSWORD": "secret"}, "", cli.ExitDisconnected, noRouter},
		"nobody":                      {nil, "-s " + url, cli.ExitDisconnected, "the server requires credentials"},
		"a context by name":           {nil, "--context ada", cli.ExitDisconnected, noRouter},
		"a context by variable":       {map[string]string{"NATS_CONTEXT": "ada"}, "", cli.ExitDisconnected, noRouter},
		"a context and another user":  {nil, "--context ada --user eve --password x", cli.ExitDisconnected, "the server requires credentials"},
		"a user who may not emit":     {nil, "--context bob", cli.ExitDisconnected, "ask whoever runs it for that permission"},
		"a context that is missing":   {nil, "--context eve", cli.ExitLocal, "see `nats context ls`"},
		"a context that is elsewhere": {nil, "--context ../x", cli.ExitLocal, "not a valid context name"},
		"a context with nsc":          {nil, "--context nsc", cli.ExitLocal, "give a server and a credentials file"},
		"a context without a home":    {map[string]string{"XDG_CONFIG_HOME": ""}, "--context ada", cli.ExitLocal, "neither XDG_CONFIG_HOME nor HOME is set"},
		"no address":                  {nil, "-s localhost:port", cli.ExitLocal, "not a server address"},
		"no credentials":              {nil, "-s " + url + " --creds " + dir + "/nats/context/broken.json", cli.ExitLocal, "it has no USER JWT"},
		"a broken context":            {nil, "--context broken", cli.ExitLocal, "unexpected end of JSON input"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // some wait for a router
			env := map[string]string{"XDG_CONFIG_HOME": dir}
			maps.Copy(env, tt.env)
			got := (&clitest.Fixture{T: t, Hookctl: hookctl.Run, Env: env}).Run(append([]string{"emit", "x"}, strings.Fields(tt.args)...)...)
			if got.Code != tt.code || !strings.Contains(got.Stderr, tt.text) {
				t.Errorf("exit code %d, stderr %q; want %d, %q", got.Code, got.Stderr, tt.code, tt.text)
			}
		})
	}
}

func TestTheSelectedContext(t *testing.T) {
	t.Parallel()
	url := guarded(t)
	home := t.TempDir()
	write(t, home+"/.config/nats/context.txt", "ada\n")
	write(t, home+"/.config/nats/context/ada.json", `{"url":"`+url+`","user":"ada","password":"secret"}`)
	f := &clitest.Fixture{T: t, Hookctl: hookctl.Run, Env: map[string]string{"HOME": home}}
	if got := f.Run("emit", "x"); !strings.Contains(got.Stderr, "no router answers") {
		t.Errorf("stderr %q; want that the context is used", got.Stderr)
	}
	if got := f.Run("emit", "x", "-s", url); !strings.Contains(got.Stderr, "the server requires credentials") {
		t.Errorf("stderr %q; want that a server named gets no password of a context that was not", got.Stderr)
	}
}
