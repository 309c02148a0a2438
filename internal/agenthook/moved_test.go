package agenthook_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/hookrouter/hookrouter/internal/natscontext"
	"github.com/hookrouter/hookrouter/internal/natscreds"
)

// A variable that leads to a directory without credentials does not make the hook obey another
// router than the one that the credentials in its home name.
func TestVariablesDoNotMoveTheCredentials(t *testing.T) {
	b := start(t) // permits everything, and is not that router
	home := t.TempDir()
	creds := credentialsOf(t, home, newKey(t))
	if err := natscontext.Write(filepath.Join(home, ".config", "nats"), natscontext.Name(b.url, "agent"), natscontext.Context{URL: b.url, Creds: creds}); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for home, want := range map[string]bool{"": false, home: true} {
		h := newCall(t, "claude-code", "", b.url)
		h.Options.Home = home
		if out := h.Answer(t.Context(), sample(t, "claude-code", "PreToolUse")); blocks(out) != want {
			t.Errorf("home %q: %s %s; want a block: %v", home, out.Stdout, out.Stderr, want)
		}
	}
}

// Credentials that a server does not take are named.
func TestCredentialsOfAnotherRouter(t *testing.T) {
	url, home := guardedServer(t), t.TempDir()
	creds := credentialsOf(t, home, newKey(t))
	if err := natscontext.Write(filepath.Join(home, ".config", "nats"), natscontext.Name(url, "agent"), natscontext.Context{URL: url, Creds: creds}); err != nil {
		t.Fatal(err)
	}
	h := newCall(t, "claude-code", "", url)
	h.Options.Home = home
	if out := h.Answer(t.Context(), sample(t, "claude-code", "PreToolUse")); !blocks(out) || !strings.Contains(string(out.Stdout), "does not accept the credentials "+creds) {
		t.Errorf("%s %s", out.Stdout, out.Stderr)
	}
}

// newKey is the public key of a router that nobody runs.
func newKey(t *testing.T) string {
	t.Helper()
	key, err := nkeys.CreateServer()
	if err != nil {
		t.Fatal(err)
	}
	public, _ := key.PublicKey()
	return public
}

// credentialsOf writes credentials that name a router.
func credentialsOf(t *testing.T, dir, router string) (path string) {
	t.Helper()
	account, _ := nkeys.CreateAccount()
	user, _ := nkeys.CreateUser()
	public, _ := user.PublicKey()
	seed, _ := user.Seed()
	claims := jwt.NewUserClaims(public)
	claims.Tags.Add(natscreds.ServerTag + router)
	token, err := claims.Encode(account)
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.FormatUserConfig(token, seed)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "agent.creds")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
