package agents

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// nowhere is the model address that a started agent gets. Nothing listens there, so a start costs
// nothing and sends nothing. The agent calls its hooks before it calls the model.
const nowhere = "http://127.0.0.1:1"

// launch says how to start an agent with a prompt and without its model.
type launch struct{ args, env []string }

var launches = map[string]launch{
	"claude-code": {[]string{"-p"}, []string{"ANTHROPIC_BASE_URL=" + nowhere, "ANTHROPIC_API_KEY=none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_MAX_RETRIES=0"}},
	"codex": {[]string{
		"exec", "--skip-git-repo-check", "--sandbox", "read-only", "-c", "analytics.enabled=false", "-c", "check_for_update_on_startup=false",
		"-c", `model_provider="nowhere"`, "-c", `model_providers.nowhere={name="nowhere",base_url="` + nowhere + `/v1",wire_api="responses"}`,
	}, nil},
}

// startWithin is how long a started agent may take to call the router.
const startWithin = 30 * time.Second

// absent returns what doctor could not test because the agent is not installed.
func (t target) absent() string {
	return t.program + " is not in PATH: only the hook was tried, not whether the agent runs it"
}

// start starts the agent's own program with a prompt, and waits until the router receives it.
func (t target) start(ctx context.Context, e *cli.Env, scope string) finding {
	how, known := launches[t.dialect]
	program, installed := t.executable(e.Getenv("PATH"))
	switch {
	case !installed:
		return finding{State: "fail", Text: t.absent()}
	case !known:
		return finding{State: "note", Text: fmt.Sprintf("%s was not started, since hookctl can't start it without its model: whether it runs the hook was not tried. Start it, and look with: hookctl watch prompt:submit", t.program)}
	}
	bus, err := e.Connect()
	if err != nil {
		return finding{State: "note", Text: fmt.Sprintf("%s was not started, since nobody could watch the router: %v", t.program, err)}
	}
	prompt := "hookctl doctor " + events.NewID()
	heard := make(chan *nats.Msg, 64)
	sub, err := bus.Conn().ChanSubscribe(bus.Subjects.Event("event", events.PromptSubmit), heard)
	if err == nil {
		err = bus.Conn().FlushTimeout(5 * time.Second)
	}
	if err != nil {
		return finding{State: "note", Text: fmt.Sprintf("%s was not started, since nobody could watch the router: %v", t.program, err)}
	}
	defer func() { _ = sub.Unsubscribe() }()
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	c := exec.CommandContext(ctx, program, append(slices.Clone(how.args), prompt)...)
	c.Env = append(append(os.Environ(), how.env...), "HOME="+e.Getenv("HOME"), "PATH="+e.Getenv("PATH"))
	if scope != project { // project hooks apply in the project's directory
		if c.Dir, err = os.MkdirTemp("", "hookctl-doctor-*"); err != nil {
			return finding{State: "note", Text: fmt.Sprintf("%s was not started: %v", t.program, err)}
		}
		defer func() { _ = os.RemoveAll(c.Dir) }()
	}
	return t.heard(ctx, c, prompt, heard)
}

// heard runs the agent's program until the router receives the prompt.
func (t target) heard(ctx context.Context, c *exec.Cmd, prompt string, heard <-chan *nats.Msg) finding {
	c.WaitDelay = time.Second
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	ended := make(chan struct{})
	if err := c.Start(); err != nil {
		return finding{State: "note", Text: fmt.Sprintf("%s can't be started: %v", t.program, err)}
	}
	go func() {
		_ = c.Wait() // the exit status means nothing without a model
		close(ended)
	}()
	for {
		select {
		case m := <-heard:
			if bytes.Contains(m.Data, []byte(prompt)) {
				_ = c.Cancel()
				<-ended
				return finding{State: "ok", Text: fmt.Sprintf("%s was started, without a model, and asked the router about its prompt", t.program)}
			}
			continue
		case <-ended:
			if len(heard) > 0 {
				continue
			}
		case <-ctx.Done():
			<-ended
		}
		break
	}
	why := ""
	if t.dialect == "codex" && !t.demands {
		why = ": nobody has trusted the hook: start codex and run /hooks"
	}
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	return finding{State: "fail", Text: fmt.Sprintf("%s was started, without a model, and did not ask the router%s; it said last: %s", t.program, why, lines[len(lines)-1])}
}

// executable returns the path of an agent's program on this machine.
func (t target) executable(path string) (file string, ok bool) {
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, t.program)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, true
		}
	}
	return "", false
}
