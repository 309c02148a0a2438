package auth_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/auth"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
)

// hookctl runs the commands of this package.
func hookctl(ctx context.Context, args []string, p cli.Process) int {
	return cli.Run(ctx, args, p, &struct {
		Auth auth.Cmd `cmd:""`
	}{})
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	f := &clitest.Fixture{T: t, Hookctl: hookctl, Env: map[string]string{"HOOKCTL_FORMAT": "json", "HOME": home, "NATS_URL": "nats://127.0.0.1:1", "HOOK_ROUTER_AUTH_DIR": home + "/auth"}}
	if got := f.Run("auth", "list"); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, "hook-router makes them at its first start") {
		t.Errorf("without keys: %+v", got)
	}
	f.Run("auth", "init")
	for args, want := range map[string]string{
		"init":                               "has keys already",
		"add agent Coder":                    "lower-case letters",
		"add agent admin":                    "exists, with the role admin",
		"add worker w":                       "name the hooks",
		"add worker w --hook a.b":            "a.b",
		"add agent a --hook x":               "only a worker answers for hooks",
		"add worker w --hook a --may allow":  `action "allow"`,
		"add worker w --hook a --priority 9": "give one such as 100..200",
		"add king a":                         "must be one of",
		"rotate nobody":                      "hookctl auth list",

		"add agent a --expires=-1h":                                  "a second or more",
		"add --http a --expires=-1h":                                 "a second or more",
		"rotate agent --expires=0s":                                  "a second or more",
		"add worker w --hook a --call-timeout 500us":                 "a millisecond or more",
		"add worker w --hook a --call-timeout=-1s":                   "a millisecond or more",
		"add worker w --hook a --event=":                             "--event names nothing",
		"add worker w --hook a --may=":                               "--may names nothing",
		"add worker w --hook a --field= --may nothing":               "--field names nothing",
		"add worker w --hook a --priority=":                          "is not a range",
		"add worker w --hook a --may ask_user --field tool_input..x": "give a member of the data",
		"add worker w --hook a --priority 1..2..3":                   "is not a range",
		"add worker w --hook a --priority 1..20x":                    "is not a range",
		"revoke system":                                              "rotate it",
	} {
		if got := f.Run(append([]string{"auth"}, strings.Fields(args)...)...); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, want) {
			t.Errorf("%s: %+v, want %q", args, got, want)
		}
	}
	if got := f.Run("auth", "add", "worker", "w", "--hook", "a", "--event", "tool:*", "--priority=-5..5", "--may", "nothing"); got.Code != cli.ExitDisconnected || !strings.Contains(got.Stderr, "hookctl auth push") {
		t.Errorf("without a server: %+v", got)
	}
	if got := f.Run("--text", "--wide", "auth", "list"); !strings.Contains(got.Stdout, "answer for a; on tool:*; at -5..5; with continue and deny only") {
		t.Errorf("list: %s", got.Stdout)
	}
}

func TestTheManifestsHoldNoKey(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	f := &clitest.Fixture{T: t, Hookctl: hookctl, Env: map[string]string{"HOOKCTL_FORMAT": "json", "HOME": home, "HOOK_ROUTER_AUTH_DIR": home + "/auth"}}
	f.Run("auth", "init")
	got := f.Run("auth", "config", "--for", "kubernetes")
	if got.Code != cli.ExitOK || !strings.Contains(got.Stdout, "name: hookrouter-creds-agent, namespace: hook-router}") {
		t.Errorf("manifests: %+v", got)
	}
	public, _, _ := strings.Cut(got.Stdout, "kind: Secret")
	if strings.Contains(public, "SEED") || strings.Contains(public, "SU") && strings.Contains(public, "PRIVATE") {
		t.Error("the ConfigMap holds a key")
	}
}

// Kubernetes would reject the Secret after accepting others.
func TestASecretHasAValidName(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	f := &clitest.Fixture{T: t, Hookctl: hookctl, Env: map[string]string{"HOOKCTL_FORMAT": "json", "HOME": home, "NATS_URL": "nats://127.0.0.1:1", "HOOK_ROUTER_AUTH_DIR": home + "/auth"}}
	f.Run("auth", "init")
	for _, name := range []string{"my_agent", "coder-"} {
		f.Run("auth", "add", "agent", name)
		if got := f.Run("auth", "config", "--for", "kubernetes"); got.Code != cli.ExitLocal || got.Stdout != "" || !strings.Contains(got.Stderr, name) {
			t.Errorf("%s: %d, %s", name, got.Code, got.Stderr)
		}
		f.Run("auth", "revoke", name)
	}
	if got := f.Run("auth", "config", "--for", "kubernetes"); got.Code != cli.ExitOK {
		t.Errorf("without them: %d, %s", got.Code, got.Stderr)
	}
}

// A token is printed once. Only its digest is stored, in a file that only its owner can read.
func TestATokenForHTTP(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir := filepath.Join(home, "auth")
	f := &clitest.Fixture{T: t, Hookctl: hookctl, Env: map[string]string{"HOOKCTL_FORMAT": "json", "HOME": home, "NATS_URL": "nats://127.0.0.1:1", "HOOK_ROUTER_AUTH_DIR": dir}}
	f.Run("auth", "init")
	var of struct{ Name, Role, User, Creds, Token string }
	added := f.Run("auth", "add", "--http", "coder")
	if err := json.Unmarshal([]byte(added.Stdout), &of); err != nil || added.Code != cli.ExitOK || of.Role != "agent" || of.User+of.Creds != "" || len(of.Token) < 43 {
		t.Fatalf("add: %+v, %v", added, err)
	}
	first := of.Token
	kept := func() (all string) {
		t.Helper()
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			all += string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if strings.Contains(kept(), first) {
		t.Error("the token is kept")
	}
	if info, err := os.Stat(filepath.Join(dir, "tokens.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode of the digests: %v, %v", info, err)
	}
	digests := kept()
	if rotated := f.Run("auth", "rotate", "coder"); json.Unmarshal([]byte(rotated.Stdout), &of) != nil || of.Token == first || kept() == digests {
		t.Errorf("rotate: %+v", rotated)
	}
	if got := f.Run("--text", "--wide", "auth", "list"); !strings.Contains(got.Stdout, "send events; only over HTTP") {
		t.Errorf("list: %s", got.Stdout)
	}
	if got := f.Run("auth", "revoke", "coder"); got.Code != cli.ExitOK {
		t.Errorf("revoke: %+v", got)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "tokens.json")); err != nil || strings.Contains(string(text), "coder") {
		t.Errorf("after revoke: %s, %v", text, err)
	}
	for args, want := range map[string]string{
		"add --http coder":      "was revoked",
		"add --http keeper":     "only an agent",
		"add --http x agent y":  "leave the role and the name out",
		"add --http x --hook a": "worker",
		"add --http Coder":      "lower-case letters",
		"add":                   "name a role",
		"add agent":             "name a role",
		"add witness w":         "--witness-key",
		"add auditor w --witness-key hook-router+36c7b52f+Af4FGYRRn9kc31LhTGRLRcA3NFXVBcjUZ+dnNoGTxMZT": "no other role",
		"add agent x --http=coder2": "leave the role",
	} {
		if got := f.Run(append([]string{"auth"}, strings.Fields(args)...)...); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, want) {
			t.Errorf("%s: %+v, want %q", args, got, want)
		}
	}
	if got := f.Run("auth", "add", "--http", "agent", "--expires", "1h"); got.Code != cli.ExitOK && got.Code != cli.ExitDisconnected {
		t.Errorf("for an agent that is there: %+v", got)
	}
	if got := f.Run("--text", "--wide", "auth", "list"); !strings.Contains(got.Stdout, "send events; also over HTTP, until") {
		t.Errorf("list: %s", got.Stdout)
	}
	if got := f.Run("auth", "config", "--for", "kubernetes"); !strings.Contains(got.Stdout, "hookrouter-http-tokens") || strings.Contains(got.Stdout, first) {
		t.Errorf("manifests: %+v", got)
	}
}
