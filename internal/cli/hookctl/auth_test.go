package hookctl_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
)

// served returns an authority, and a NATS server with the configuration that hookctl prints for it.
func served(t *testing.T) (f *clitest.Fixture, dir, url string) {
	t.Helper()
	home := t.TempDir()
	dir = filepath.Join(home, "auth")
	f = &clitest.Fixture{T: t, Hookctl: hookctl.Run, Env: map[string]string{"HOOKCTL_FORMAT": "json", "HOME": home, "HOOK_ROUTER_AUTH_DIR": dir}}
	if got := f.Run("--text", "auth", "init"); got.Code != cli.ExitOK || !strings.Contains(got.Stdout, dir) {
		t.Fatalf("init: %+v", got)
	}
	conf := f.Run("--text", "auth", "config")
	if conf.Code != cli.ExitOK {
		t.Fatalf("config: %+v", conf)
	}
	path := filepath.Join(home, "nats.conf")
	text := strings.ReplaceAll(conf.Stdout, `"./jwt"`, `"`+home+`/jwt"`) + "jetstream: {store_dir: \"" + home + "/store\"}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := natsserver.ProcessConfigFile(path)
	if err != nil {
		t.Fatal(err)
	}
	o.Host, o.Port, o.NoSigs, o.NoLog = "127.0.0.1", natsserver.RANDOM_PORT, true, true
	s, err := natsserver.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(testkit.Patience) {
		t.Fatal("the server does not start")
	}
	f.Env["NATS_URL"] = s.ClientURL()
	return f, dir, s.ClientURL()
}

func TestAnAgentIsAddedRotatedAndRevoked(t *testing.T) {
	t.Parallel()
	f, dir, url := served(t)
	added := f.Run("auth", "add", "agent", "coder")
	var of struct{ Creds, Account, User string }
	if err := json.Unmarshal([]byte(added.Stdout), &of); err != nil || added.Code != cli.ExitOK || of.Creds != filepath.Join(dir, "creds", "coder.creds") {
		t.Fatalf("add: %+v, %v", added, err)
	}
	old, err := os.ReadFile(of.Creds)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(of.Creds); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode of the credentials: %v, %v", info, err)
	}
	connect := func(creds string) (*nats.Conn, <-chan struct{}) {
		t.Helper()
		closed := make(chan struct{})
		nc, err := nats.Connect(url, nats.UserCredentials(creds), nats.NoReconnect(), nats.ClosedHandler(func(*nats.Conn) { close(closed) }))
		if err != nil {
			t.Fatalf("connect: %v", err)
		}
		t.Cleanup(nc.Close)
		return nc, closed
	}
	_, first := connect(of.Creds)
	if got := f.Run("auth", "rotate", "coder"); got.Code != cli.ExitOK {
		t.Fatalf("rotate: %+v", got)
	}
	testkit.Closed(t, "the connection with the old credentials to end", first)
	_, second := connect(of.Creds)
	if got := f.Run("auth", "revoke", "coder"); got.Code != cli.ExitOK {
		t.Fatalf("revoke: %+v", got)
	}
	testkit.Closed(t, "the connection of a revoked agent to end", second)
	again := filepath.Join(dir, "old.creds")
	if err := os.WriteFile(again, old, 0o600); err != nil {
		t.Fatal(err)
	}
	if nc, err := nats.Connect(url, nats.UserCredentials(again)); err == nil {
		nc.Close()
		t.Error("credentials that were rotated connect")
	}
	if got := f.Run("--text", "--wide", "auth", "list"); !strings.Contains(got.Stdout, "coder") || !strings.Contains(got.Stdout, "revoked") {
		t.Errorf("list: %+v", got)
	}
}

// Credentials are created even without a NATS server. The message says so, and what is left to do.
func TestAChangeThatTheServerDoesNotKnowOf(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "auth")
	f := &clitest.Fixture{T: t, Hookctl: hookctl.Run, Env: map[string]string{"HOME": t.TempDir(), "HOOK_ROUTER_AUTH_DIR": dir, "NATS_URL": "nats://127.0.0.1:1"}}
	if got := f.Run("auth", "init"); got.Code != cli.ExitOK {
		t.Fatalf("init: %+v", got)
	}
	const todo = "but the NATS server does not know of it yet: "
	for args, want := range map[string][2]string{
		"add agent coder":       {"credentials of agent/coder: " + filepath.Join(dir, "creds", "coder.creds"), "hookctl: the credentials are made, " + todo},
		"add worker w --hook h": {"credentials of worker/w: ", "hookctl: the credentials are made, " + todo},
		"rotate agent":          {"credentials of agent/agent: ", "hookctl: new credentials are made, " + todo},
		"revoke worker":         {"the credentials of worker/worker end when the NATS server knows\n", "hookctl: the credentials are revoked, " + todo},
	} {
		got := f.Run(append([]string{"auth"}, strings.Fields(args)...)...)
		if got.Code != cli.ExitDisconnected || !strings.Contains(got.Stdout, want[0]) || !strings.HasPrefix(got.Stderr, want[1]) || !strings.Contains(got.Stderr, "Left to do: hookctl auth push") || !strings.Contains(got.Stderr, "hookctl auth config") {
			t.Errorf("auth %s: %+v\nwant %q", args, got, want)
		}
	}
}
