package supervisor_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
)

const document = `{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`

// hookAgent is the program against a server, with a home of its own.
func hookAgent(t *testing.T, url string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), testkit.Program(t, "hook-agent"), args...)
	c.Stdin = strings.NewReader(document)
	c.Env = []string{"NATS_URL=" + url, "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	return c
}

// outcome is how the program ended.
type outcome struct {
	stdout, stderr string
	code           int
}

func run(t *testing.T, c *exec.Cmd) outcome {
	t.Helper()
	return testkit.Receive(t, "the program's end", begin(t, c))
}

// begin starts the program.
func begin(t *testing.T, c *exec.Cmd) <-chan outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan outcome, 1)
	go func() {
		_ = c.Wait() // the exit code says it
		done <- outcome{stdout.String(), stderr.String(), c.ProcessState.ExitCode()}
	}()
	return done
}

func TestProgram(t *testing.T) {
	t.Parallel()
	s := natstest.Listening(t)
	routertest.Start(t, s, router.Options{})
	for name, test := range map[string]struct {
		args []string
		url  string
		want outcome
	}{
		"pass":           {[]string{"claude-code"}, s.ClientURL(), outcome{}},
		"in one process": {[]string{"--supervise=false", "claude-code"}, s.ClientURL(), outcome{}},
		"a flag wins":    {[]string{"--server", s.ClientURL(), "claude-code"}, "nats://127.0.0.1:1", outcome{}},
		"no router":      {[]string{"--patience=1ms", "claude-code"}, "nats://127.0.0.1:1", outcome{stdout: `"permissionDecision":"deny"`}},
		"allowed":        {[]string{"--patience=1ms", "--on-unreachable=allow", "claude-code"}, "nats://127.0.0.1:1", outcome{stdout: `"systemMessage"`, stderr: "without a verdict"}},
		"no event":       {[]string{"copilot"}, s.ClientURL(), outcome{stderr: "name it on the command line", code: 2}},
		"no agent":       {nil, s.ClientURL(), outcome{stderr: "name the agent", code: 2}},
		"another agent":  {[]string{"clod"}, s.ClientURL(), outcome{stderr: "claude-code", code: 2}},
		"a wrong flag":   {[]string{"--what", "claude-code"}, s.ClientURL(), outcome{stderr: "--help", code: 2}},
		"a wrong choice": {[]string{"--on-unreachable=maybe", "claude-code"}, s.ClientURL(), outcome{stderr: "block or allow", code: 2}},
		"no credentials": {[]string{"--creds=/nowhere", "claude-code"}, s.ClientURL(), outcome{stdout: `"permissionDecision":"deny"`}},
		"help":           {[]string{"--help"}, s.ClientURL(), outcome{stdout: "Usage: hook-agent"}},
		"version":        {[]string{"--version"}, s.ClientURL(), outcome{stdout: "."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t, hookAgent(t, test.url, test.args...))
			if got.code != test.want.code || !strings.Contains(got.stdout, test.want.stdout) || !strings.Contains(got.stderr, test.want.stderr) ||
				test.want.stdout == "" && got.stdout != "" {
				t.Errorf("%+v; want %+v", got, test.want)
			}
		})
	}
}

// waiting is hook-agent while it waits for a router that does not answer.
func waiting(t *testing.T) (c *exec.Cmd, done <-chan outcome) {
	t.Helper()
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("finds the second process in /proc")
	}
	s := natstest.Listening(t)
	asked := make(chan struct{}, 1)
	if _, err := natstest.Conn(t, s).Subscribe("hooks.execute.>", func(*nats.Msg) { asked <- struct{}{} }); err != nil {
		t.Fatal(err)
	}
	c = hookAgent(t, s.ClientURL(), "claude-code")
	done = begin(t, c)
	testkit.Receive(t, "a request to the router", asked)
	return c, done
}

// Where the process that asks dies, the one that the agent started blocks.
func TestChildIsKilled(t *testing.T) {
	t.Parallel()
	c, done := waiting(t)
	kill(t, childOf(t, c.Process.Pid))
	got := testkit.Receive(t, "an answer", done)
	if !strings.Contains(got.stdout, `"permissionDecision":"deny"`) || !strings.Contains(got.stdout, "second process failed: signal: killed") {
		t.Errorf("%+v; want a block", got)
	}
}

// Where the process that the agent started is killed, the other one goes with it.
func TestParentIsKilled(t *testing.T) {
	t.Parallel()
	c, done := waiting(t)
	child := childOf(t, c.Process.Pid)
	kill(t, c.Process.Pid)
	testkit.Receive(t, "the end", done)
	testkit.Eventually(t, "the second process is gone", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child))
		return err != nil || bytes.Contains(stat, []byte(") Z "))
	})
}

// childOf is the process that a process started.
func childOf(t *testing.T, pid int) (child int) {
	t.Helper()
	child, ok := findChild(t, pid)
	if !ok {
		t.Fatalf("process %d has no child", pid)
	}
	return child
}

// findChild is childOf where there may be none.
func findChild(t *testing.T, pid int) (child int, ok bool) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, _ := os.ReadFile(f)
		if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			return n, true
		}
	}
	return 0, false
}

func kill(t *testing.T, pid int) {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
}

// Where the command line names the server, no variable opens the gate.
func TestVariablesBesideAServer(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--patience=1ms", "--server=nats://127.0.0.1:1", "claude-code"}, {"--patience=1ms", "claude-code"}} {
		c := hookAgent(t, "nats://127.0.0.1:1", args...)
		c.Env = append(c.Env, "HOOK_AGENT_ON_UNREACHABLE=allow")
		if got := run(t, c); strings.Contains(got.stdout, `"deny"`) != (len(args) == 3) {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

// A home that can't be written changes nothing of what is decided.
func TestHomeNotWritable(t *testing.T) {
	t.Parallel()
	c := hookAgent(t, "nats://127.0.0.1:1", "--patience=1ms", "claude-code")
	c.Env = append(c.Env, "HOME=/proc/nowhere")
	if got := run(t, c); !strings.Contains(got.stdout, `"permissionDecision":"deny"`) {
		t.Errorf("%+v; want a block", got)
	}
}

// The program links no policy language, no terminal and no NATS server.
func TestIsSmall(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(context.Background(), "go", "list", "-deps", "github.com/hookrouter/hookrouter/cmd/hook-agent").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, heavy := range []string{"cel.dev/", "open-policy-agent", "charm.land", "charmbracelet", "nats-server", "alecthomas/kong", "goccy/go-yaml", "/internal/cli/"} {
		if strings.Contains(string(out), heavy) {
			t.Errorf("it links %s", heavy)
		}
	}
}
