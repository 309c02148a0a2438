package agents_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/worker"
	"github.com/hookrouter/hookrouter/test/agents"
	"github.com/hookrouter/hookrouter/test/agents/stubmodel"
)

// limit is how long a run of an agent may take.
const limit = 90 * time.Second

// lab is one agent in front of a router, with a home of its own.
type lab struct {
	t         *testing.T
	agent     agents.Agent
	dialect   agenthook.Dialect
	installed string
	router    *router
	model     *stubmodel.Server
	run       agents.Run
	identity  string // whose credentials it has; empty for those of the role agent
}

// outcome is how a run of an agent ended.
type outcome struct {
	err      error // nil where it exited with 0
	out, log string
	took     time.Duration
}

// named returns the agent with a name if AGENTS names it.
func named(t *testing.T, name string) agents.Agent {
	t.Helper()
	chosen, err := agents.Select(os.Getenv("AGENTS"))
	i := slices.IndexFunc(chosen, func(a agents.Agent) bool { return a.Name == name })
	if err != nil || i < 0 {
		t.Skipf("AGENTS does not name %s", name)
	}
	return chosen[i]
}

func newLab(t *testing.T, a agents.Agent, s scenario) *lab {
	t.Helper()
	l := newLabAt(t, newRouter(t), a, s)
	if s.hook == nil {
		s.hook = func(worker.Event) (worker.Result, error) { return worker.Continue() }
	}
	l.router.hook(func(ctx context.Context, ev worker.Event) (worker.Result, error) {
		if s.hang == ev.Name {
			<-ctx.Done()
			return worker.Result{}, ctx.Err()
		}
		return s.hook(ev)
	})
	return l
}

// newLabAt is a lab in front of a router that others may use too, and that has its hooks.
func newLabAt(t *testing.T, r *router, a agents.Agent, s scenario) *lab {
	t.Helper()
	l := &lab{t: t, agent: a, router: r, model: &stubmodel.Server{Command: s.command, Next: s.next}, identity: s.identity}
	l.dialect, _ = agenthook.Find(a.Name)
	var err error
	if l.installed, _, err = a.Installed(); err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(l.model)
	t.Cleanup(h.Close)
	l.run = agents.Run{Model: h.URL, Prompt: "make the marker"}
	l.model.Prompt, l.model.Sub = l.run.Prompt, s.sub
	for _, dir := range []*string{&l.run.Home, &l.run.Dir, &l.run.Temp} {
		*dir = t.TempDir()
	}
	if err := a.Prepare(l.run); err != nil {
		t.Fatal(err)
	}
	l.connect(s.timeout)
	return l
}

// connect has hookctl write the agent's settings, with credentials of an agent only.
func (l *lab) connect(timeout time.Duration) {
	l.t.Helper()
	creds, err := os.ReadFile(l.router.creds(cmp.Or(l.identity, "agent")))
	if err != nil {
		l.t.Fatal(err)
	}
	own := filepath.Join(l.run.Home, "agent.creds")
	if err := os.WriteFile(own, creds, 0o600); err != nil {
		l.t.Fatal(err)
	}
	args := []string{
		"connect", l.agent.Name, "--yes", "--hook-agent=" + testkit.Program(l.t, "hook-agent"),
		"--server=" + l.router.url(), "--creds=" + own,
	}
	if timeout > 0 {
		args = append(args, "--timeout="+timeout.String())
	}
	l.hookctl(args...)
}

// hookctl runs hookctl in the agent's home.
func (l *lab) hookctl(args ...string) {
	l.t.Helper()
	cmd := exec.CommandContext(l.t.Context(), testkit.Program(l.t, "hookctl"), args...)
	cmd.Dir, cmd.Env = l.run.Dir, []string{"HOME=" + l.run.Home}
	if out, err := cmd.CombinedOutput(); err != nil {
		l.t.Fatalf("hookctl %s: %v\n%s", args[0], err, out)
	}
}

// event is what hook-agent's table says of an event.
func (l *lab) event(name string) agenthook.Event {
	i := slices.IndexFunc(l.dialect.Events, func(e agenthook.Event) bool { return e.Name == name })
	return l.dialect.Events[i] // all have those of the cases
}

// write writes a file of the project.
func (l *lab) write(name, text string) {
	l.t.Helper()
	path := filepath.Join(l.run.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

// start runs the agent beside the test.
func (l *lab) start() <-chan outcome {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	cmd := l.agent.Command(ctx, l.installed, l.run)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	done := make(chan outcome, 1)
	go func() {
		defer cancel()
		began := time.Now()
		err := cmd.Run()
		if ctx.Err() != nil {
			err = errors.Join(ctx.Err(), err)
		}
		done <- outcome{err, out.String(), log.String(), time.Since(began)}
	}()
	l.t.Cleanup(cancel)
	return done
}

// ended waits for the agent, and shows what it said where the test has failed.
func (l *lab) ended(done <-chan outcome) outcome {
	l.t.Helper()
	o := <-done // it is killed in time
	l.t.Cleanup(func() {
		if !l.t.Failed() {
			return
		}
		l.t.Logf("after %v: %v\n%s\n%s", o.took, o.err, clip(o.out), clip(o.log))
		for _, r := range l.model.Requests() {
			l.t.Logf("%s, %d results: %s", r.API, r.Results, clip(conversation(r)))
		}
	})
	if errors.Is(o.err, context.DeadlineExceeded) {
		l.t.Errorf("it did not end within %v", limit)
	}
	return o
}

// conversation is a request without what is the same in each.
func conversation(r stubmodel.Request) string {
	var body map[string]json.RawMessage
	_ = json.Unmarshal(r.Body, &body) // the model has read it
	for _, name := range []string{"tools", "system", "instructions", "systemInstruction"} {
		delete(body, name)
	}
	text, _ := json.Marshal(body)
	return string(text)
}

// clip keeps the end of a text.
func clip(text string) string {
	const most = 3000
	return strings.ToValidUTF8(text[max(len(text)-most, 0):], "")
}

// marker is what the tool left; empty where it did not run.
func (l *lab) marker() string {
	text, err := os.ReadFile(filepath.Join(l.run.Dir, "marker"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// ran checks what the tool left.
func (l *lab) ran(want string) {
	l.t.Helper()
	if got := l.marker(); got != want {
		l.t.Errorf("the tool left %q, want %q", got, want)
	}
}

// told checks that the model was told something.
func (l *lab) told(text string) {
	l.t.Helper()
	if !l.model.Saw(text) {
		l.t.Errorf("the model was not told %q", text)
	}
}

// recorded checks that the audit log has an answer to an event.
func (l *lab) recorded(event, action string) {
	l.t.Helper()
	if !l.router.recorded(l.agent.Name, event, action) {
		l.t.Errorf("the audit log has no %s of %s: %+v", action, event, l.router.audit("chain.result", "*"))
	}
}
