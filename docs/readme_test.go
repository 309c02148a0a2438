package docs_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/testkit"
)

// minute is the part of README.md that a newcomer types.
const minute = "## Guard your Claude Code in a minute\n"

// TestTheMinuteOfTheReadme types what README.md says, with the real programs, as a user whose
// home is a directory of the test: the router comes up, the agent is connected and gated, a
// call is denied, and why it was is told with the place of the rule.
func TestTheMinuteOfTheReadme(t *testing.T) {
	t.Parallel()
	_, part, ok := strings.Cut(read(t, filepath.Join(root, "README.md")), minute)
	if !ok {
		t.Fatalf("README.md has no part %q", minute)
	}
	part, _, _ = strings.Cut(part, "\n## ")
	var typed []string
	for _, m := range block.FindAllStringSubmatch(part, -1) {
		if m[1] == "sh" {
			typed = append(typed, strings.Split(strings.TrimSpace(m[3]), "\n")...)
		}
	}
	want := []string{"hook-router up", "hookctl connect claude-code", "hookctl doctor claude-code", "hookctl execute ", "hookctl why"}
	if len(typed) != len(want) {
		t.Fatalf("README.md has one types %q; want %q", typed, want)
	}
	for i := range want {
		if !strings.HasPrefix(typed[i], want[i]) {
			t.Fatalf("README.md has one type %q as number %d; want %q", typed[i], i, want[i])
		}
	}
	u := newcomer(t)
	u.up(t, typed[0])
	settings := filepath.Join(u.home, ".claude", "settings.json")
	before := []byte("{\n  \"model\": \"opus\"\n}\n")
	if err := os.WriteFile(settings, before, 0o600); err != nil {
		t.Fatal(err)
	}
	u.types(t, typed[1], "y\n", 0, "hook-agent", "asks the hook router from its next session on")
	if text, err := os.ReadFile(settings); err != nil || !bytes.Contains(text, []byte("PreToolUse")) || !bytes.Contains(text, []byte("opus")) {
		t.Errorf("the settings are %s, %v; want the hook beside what was there", text, err)
	}
	u.types(t, typed[2], "", 0, "the router answers")
	u.types(t, typed[3], "", 2, "deny", "denied by")
	u.types(t, typed[4], "", 0, "DENIED", "built into path-guard: ~/.ssh/** (starter policy, coding-agent.yaml:")
	u.types(t, "hookctl disconnect claude-code", "y\n", 0, "no longer asks the hook router")
	if text, err := os.ReadFile(settings); err != nil || !bytes.Equal(text, before) {
		t.Errorf("the settings are %s, %v; want them as they were", text, err)
	}
}

// user is somebody with a home of their own and the programs in their path.
type user struct {
	home string
	env  []string
}

func newcomer(t *testing.T) user {
	t.Helper()
	home, path := t.TempDir(), []string{t.TempDir()}
	beThis(t, filepath.Join(path[0], "hookctl"))
	for _, name := range []string{"hook-router", "hook-agent"} {
		path = append(path, filepath.Dir(testkit.Program(t, name)))
	}
	if err := os.Mkdir(filepath.Join(home, ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	nats := freeAddr(t)
	return user{home, []string{
		"HOME=" + home, "PATH=" + strings.Join(append(path, os.Getenv("PATH")), ":"), "CI=1", // opens no browser
		"NATS_URL=nats://" + nats, "HOOK_ROUTER_NATS_LISTEN=" + nats, // the ports of this machine may be taken
		"HOOK_ROUTER_HTTP_LISTEN=" + freeAddr(t), "HOOK_ROUTER_AGENT_HTTP_LISTEN=" + freeAddr(t),
	}}
}

// up starts what runs on, until it says what to type next.
func (u user) up(t *testing.T, command string) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	cmd := u.command(ctx, command)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	said := &seen{text: "Next, in another terminal:", found: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = cmd.Wait() }()
	t.Cleanup(func() { stop(); <-done })
	select {
	case <-said.found:
	case <-done:
		t.Fatalf("%s ended: %s", command, said.all.String())
	case <-time.After(30 * time.Second):
		t.Fatalf("%s is not up after 30 s", command)
	}
}

// types runs a command to its end and looks at what it prints.
func (u user) types(t *testing.T, command, answer string, code int, want ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := u.command(ctx, command)
	cmd.Stdin = strings.NewReader(answer)
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("%s: exit code %d; want %d\n%s", command, got, code, out)
	}
	for _, text := range want {
		if !bytes.Contains(out, []byte(text)) {
			t.Errorf("%s: no %q in\n%s", command, text, out)
		}
	}
}

func (u user) command(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "bash", "-c", "exec "+line)
	cmd.Dir, cmd.Env = u.home, u.env
	return cmd
}

// seen is an output that closes found when a text was written.
type seen struct {
	text  string
	found chan struct{}
	all   bytes.Buffer
}

// Write is called from one goroutine: stdout and stderr are the same writer.
func (s *seen) Write(p []byte) (int, error) {
	had := strings.Contains(s.all.String(), s.text)
	s.all.Write(p)
	if !had && strings.Contains(s.all.String(), s.text) {
		close(s.found)
	}
	return len(p), nil
}
