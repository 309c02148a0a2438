package httpapi_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hookrouter/hookrouter/internal/identity"
	"github.com/hookrouter/hookrouter/internal/natscontext"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

const input = `{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`

// hookAgent is hook-agent with the credentials of the default agent. Without the seed of their key
// no NATS server takes them, so that an answer is that of the local server.
func (b *bus) hookAgent(seed bool) *exec.Cmd {
	b.Helper()
	home := b.TempDir()
	text, err := os.ReadFile(b.authority.CredsFile(identity.Identity{Name: "agent"}))
	if err != nil {
		b.Fatal(err)
	}
	if !seed {
		text = regexp.MustCompile(`(?m)^SU[A-Z2-7]{40,}$`).ReplaceAll(text, []byte("SUNONE"))
	}
	creds := filepath.Join(home, "agent.creds")
	if err := os.WriteFile(creds, text, 0o600); err != nil {
		b.Fatal(err)
	}
	url := b.server.ClientURL()
	if err := natscontext.Write(filepath.Join(home, ".config", "nats"), natscontext.Name(url, "agent"), natscontext.Context{URL: url, Creds: creds}); err != nil {
		b.Fatal(err)
	}
	c := exec.CommandContext(b.Context(), testkit.Program(b, "hook-agent"), "--patience=1ms", "--server="+url, "claude-code")
	c.Env = []string{"HOME=" + home, "CODEX_THREAD_ID=above"}
	c.Stdin = strings.NewReader(input)
	return c
}

// said runs it.
func said(t *testing.T, c *exec.Cmd) (stdout, stderr string) {
	t.Helper()
	var out, notes bytes.Buffer
	c.Stdout, c.Stderr = &out, &notes
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %s", err, &notes)
	}
	return out.String(), notes.String()
}

// hook-agent gets its answer without NATS, as the default agent, with the lineage that its
// environment tells.
func TestHookAgentOfTheSameUser(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{})
	got := make(chan worker.Event, 1)
	b.hook(worker.Registration{ID: "guard", Events: []string{"tool:pre"}}, func(_ context.Context, ev worker.Event) (worker.Result, error) {
		got <- ev
		return worker.Deny("NO")
	})
	if stdout, _ := said(t, b.hookAgent(false)); !strings.Contains(stdout, `"permissionDecision":"deny"`) || !strings.Contains(stdout, "NO") {
		t.Errorf("got %s", stdout)
	}
	ev := testkit.Receive(t, "the event", got)
	if attr := func(name string) string { return ev.Extensions[name] }; attr("hookemitter") != "nats agent/agent" || attr("hookparent") != "above" || ev.Source != "/claude-code" {
		t.Errorf("%+v", ev)
	}
}

// An event that a person is asked about goes on over NATS: nobody is asked twice, and no hook is
// called again.
func TestHookAgentOfTheSameUserWaits(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{})
	var calls atomic.Int32
	b.on("tool:pre", func() (worker.Result, error) { calls.Add(1); return worker.Ask("Deploy?") })
	done := make(chan string, 1)
	c := b.hookAgent(true)
	go func() {
		stdout, stderr := said(t, c)
		done <- stdout + stderr
	}()
	b.approve(b.asked(), "Allow")
	if got := testkit.Receive(t, "an answer", done); strings.Contains(got, "permissionDecision") || !strings.Contains(got, "answered by nats admin/admin: Allow") {
		t.Errorf("approved: %s", got)
	}
	if n := calls.Load(); n != 1 {
		t.Errorf("the hook was called %d times", n)
	}
}

// Once the default agent has ended, nobody is answered as it.
func TestHookAgentOfARevokedIdentity(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{})
	if stdout, _ := said(t, b.hookAgent(false)); stdout != "" {
		t.Fatalf("before: %s", stdout)
	}
	c := b.hookAgent(true)
	if _, err := b.authority.Revoke("agent"); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "it is blocked", func() bool {
		again := exec.CommandContext(t.Context(), c.Path, c.Args[1:]...)
		again.Env, again.Stdin = c.Env, strings.NewReader(input)
		stdout, _ := said(t, again)
		return strings.Contains(stdout, `"permissionDecision":"deny"`)
	})
}
