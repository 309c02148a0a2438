package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	hooks "github.com/hookrouter/hookrouter/internal/workerfile/serve"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

// log is standard error that a test can wait for.
type log struct {
	mu      sync.Mutex // guards text and waiting
	text    bytes.Buffer
	waiting map[string]chan struct{}
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(p)
	for text, ch := range l.waiting {
		if strings.Contains(l.text.String(), text) {
			close(ch)
			delete(l.waiting, text)
		}
	}
	return len(p), nil
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// has is closed when the text stands in the log.
func (l *log) has(text string) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	ch := make(chan struct{})
	if strings.Contains(l.text.String(), text) {
		close(ch)
		return ch
	}
	if l.waiting == nil {
		l.waiting = map[string]chan struct{}{}
	}
	l.waiting[text] = ch
	return ch
}

// start runs the program on a worker file until the test ends, or stop is
// called, which returns its error.
func start(t *testing.T, url, file string, args ...string) (stderr *log, stop func() error) {
	t.Helper()
	return startIn(t, process{}, url, file, args...)
}

// startIn is start in a process that gets signals.
func startIn(t *testing.T, p process, url, file string, args ...string) (stderr *log, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	stderr = &log{}
	p.stdout, p.stderr = &bytes.Buffer{}, stderr
	done := make(chan error, 1)
	ready := stderr.has(" answers for ")
	go func() { done <- run(ctx, append([]string{"--config", file, "--nats-url", url}, args...), p) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("run: %v", err)
		}
	})
	select {
	case <-ready:
	case err := <-done:
		done <- err
		t.Fatalf("run: %v\n%s", err, stderr)
	case <-time.After(20 * time.Second):
		t.Fatalf("not ready after 20 s:\n%s", stderr)
	}
	return stderr, stop
}

// listen starts a NATS server with a socket, and a router on it.
func listen(t *testing.T) (url string) {
	t.Helper()
	s, err := embedded.Start(embedded.Options{Listen: "127.0.0.1:0", StoreDir: natstest.StoreDir(t), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	routertest.Start(t, s, router.Options{})
	return s.ClientURL()
}

func connect(t *testing.T, url string) *agent.Agent {
	t.Helper()
	a, err := agent.New(natstest.Client(t, hookrouter.Options{URL: url}), agent.Options{Session: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func write(t *testing.T, text string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "worker.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

const twoHooks = `
hooks:
  - id: path-guard
    events: [tool:pre]
    priority: 5
    on_failure: deny
    match: data.tool_name in ['Write', 'Edit']
    cel:
      rules:
        - when: data.tool_input.file_path.startsWith('/etc/')
          deny: "Access denied: {{ data.tool_input.file_path }} is protected"
  - id: linter
    events: [tool:post]
    exec:
      command: [sh, -c, 'printf ''{"action":"inject_context","context_injection":"%s %s %s"}'' "$HOOK_EVENT" "$HOOK_SESSION_ID" "${HOOK_CHAIN_ID:+chain}${TRACEPARENT:+ trace}"']
`

func TestTheHooksOfAFileAnswerOnTheBus(t *testing.T) {
	t.Parallel()
	url := listen(t)
	stderr, _ := start(t, url, write(t, twoHooks))
	for _, line := range []string{
		`"msg":"hook registered","hook":"path-guard","kind":"cel","events":"tool:pre","priority":5,"on_failure":"deny","mode":"enforce"}`,
		`"msg":"hook registered","hook":"linter","kind":"exec","events":"tool:post","priority":0,"on_failure":"continue","mode":"enforce"}`,
		`"hooks":2,"nats":"nats://`,
	} {
		if !strings.Contains(stderr.String(), line) {
			t.Errorf("stderr does not have %q:\n%s", line, stderr)
		}
	}
	a := connect(t, url)
	for name, c := range map[string]struct {
		event string
		data  map[string]any
		want  chain.Result
	}{
		"the guard denies":            {"tool:pre", map[string]any{"tool_name": "Write", "tool_input": map[string]any{"file_path": "/etc/passwd"}}, chain.Denial("Access denied: /etc/passwd is protected")},
		"the guard lets pass":         {"tool:pre", map[string]any{"tool_name": "Write", "tool_input": map[string]any{"file_path": "/tmp/x"}}, chain.Result{Action: chain.Continue}},
		"the guard can't decide":      {"tool:pre", map[string]any{"tool_name": "Write"}, chain.Result{Action: chain.Deny}},
		"the match leaves others out": {"tool:pre", map[string]any{"tool_name": "Read"}, chain.Result{Action: chain.Continue}},
		"the command answers":         {"tool:post", map[string]any{}, chain.Result{Action: chain.InjectContext, ContextInjection: "tool:post s1 chain"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := a.Emit(t.Context(), c.event, c.data)
			if err != nil {
				t.Fatalf("Emit: %v", err)
			}
			if got.Action != c.want.Action || got.ContextInjection != c.want.ContextInjection || c.want.Reason != "" && got.Reason != c.want.Reason {
				t.Errorf("result %+v; want %+v", got.Result, c.want)
			}
		})
	}
}

// pipe makes a named pipe and opens it in both directions, so that nobody waits for the other
// end to open it. Reading from it fails after 20 s.
func pipe(t *testing.T) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if err := f.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestAcceptedCallsAreAnsweredBeforeTheEnd(t *testing.T) {
	t.Parallel()
	running, release := pipe(t), pipe(t)
	url := listen(t)
	stderr, stop := start(t, url, write(t, `
hooks:
  - id: slow
    events: [tool:pre]
    exec:
      command: [sh, -c, 'echo > "$1"; read -r line < "$2"; echo "{\"action\":\"deny\"}"', sh, `+running.Name()+`, `+release.Name()+`]
`))
	if want := `"hooks":1,"nats":"nats://`; !strings.Contains(stderr.String(), want) {
		t.Errorf("stderr does not have %q:\n%s", want, stderr)
	}
	a := connect(t, url)
	answered := make(chan chain.Action, 1)
	go func() {
		got, err := a.Emit(context.Background(), "tool:pre", nil)
		if err != nil {
			t.Errorf("Emit: %v", err)
		}
		answered <- got.Action
	}()
	if _, err := running.Read(make([]byte, 1)); err != nil {
		t.Fatalf("wait for the command to run: %v", err)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	if _, err := release.WriteString("go\n"); err != nil {
		t.Fatal(err)
	}
	if err := <-stopped; err != nil {
		t.Errorf("run: %v", err)
	}
	if got := <-answered; got != chain.Deny {
		t.Errorf("the call that was taken was answered with %q; want deny", got)
	}
}

func TestAWorkerWithoutARouterSaysThatItWaits(t *testing.T) {
	t.Parallel()
	s, err := embedded.Start(embedded.Options{Listen: "127.0.0.1:0", StoreDir: natstest.StoreDir(t), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	ctx, cancel := context.WithCancel(t.Context())
	stderr, done := &log{}, make(chan error, 1)
	waits, ready := stderr.has(`"subject":"hooks.register.path-guard"`), stderr.has(" answers for ")
	go func() {
		done <- run(ctx, []string{"--config", write(t, twoHooks), "--nats-url", s.ClientURL()}, process{stdout: &bytes.Buffer{}, stderr: stderr})
	}()
	select {
	case <-waits:
	case err := <-done:
		t.Fatalf("run: %v\n%s", err, stderr)
	case <-time.After(20 * time.Second): // a second, and slack for a busy machine
		t.Fatalf("it did not say in time that it waits:\n%s", stderr)
	}
	if want := "`hook-router --nats-url URL`"; !strings.Contains(stderr.String(), want) {
		t.Errorf("stderr does not have %s:\n%s", want, stderr)
	}
	routertest.Start(t, s, router.Options{})
	<-ready
	cancel()
	if err := <-done; err != nil {
		t.Errorf("run: %v", err)
	}
	if n := strings.Count(stderr.String(), `"subject":"hooks.register.path-guard"`); n != 1 { // a busy machine may say so of the next hook
		t.Errorf("it said %d times that it waits; want once:\n%s", n, stderr)
	}
}

func TestARouterThatAnswersIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	stderr, _ := start(t, listen(t), write(t, twoHooks))
	<-time.After(hooks.Patience + 100*time.Millisecond) // nothing tells that it stays quiet
	if _, later, _ := strings.Cut(stderr.String(), " answers for "); strings.Contains(later, "still waiting") {
		t.Errorf("it says that it waits, and is ready:\n%s", stderr)
	}
}

func TestAHookThatFailsIsLogged(t *testing.T) {
	t.Parallel()
	url := listen(t)
	stderr, stop := start(t, url, write(t, `
hooks:
  - id: broken
    events: [tool:pre]
    exec:
      command: [sh, -c, 'printf "\033[31mno such file\nTraceback\nlast\n" >&2; exit 3']
  - id: slow
    events: [tool:post]
    timeout_ms: 100
    exec:
      command: [sh, -c, 'echo working >&2; sleep 1000']
`))
	a := connect(t, url)
	for _, event := range []string{"tool:pre", "tool:post"} {
		if _, err := a.Emit(t.Context(), event, nil); err != nil {
			t.Errorf("Emit: %v", err)
		}
	}
	if err := stop(); err != nil {
		t.Errorf("run: %v", err)
	}
	for _, want := range []string{
		`"level":"WARN","msg":"hook failed","hook":"broken","kind":"exec","event":"tool:pre","error":"run sh: exit status 3: last","stderr":"[31mno such file"`,
		`"level":"WARN","msg":"hook failed","hook":"slow","kind":"exec","event":"tool:post","error":"run sh: killed with its children: context deadline exceeded: the hook had 100ms","stderr":"working"`,
	} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("stderr does not have %s:\n%s", want, stderr)
		}
	}
}

// A call that the router discards is no failure.
func TestADiscardedCallIsNotLoggedAsFailed(t *testing.T) {
	t.Parallel()
	url, begun := listen(t), filepath.Join(t.TempDir(), "begun")
	stderr, _ := start(t, url, write(t, `
hooks:
  - id: denies
    events: [tool:pre]
    effect: validate
    timeout_ms: 20000
    exec:
      command: [sh, -c, 'until [ -e "$0" ]; do sleep 0.01; done; echo "{\"action\":\"deny\",\"reason\":\"no\"}"', "`+begun+`"]
  - id: slow
    events: [tool:pre]
    effect: validate
    priority: 1
    timeout_ms: 20000
    exec:
      command: [sh, -c, 'touch "$0"; sleep 1000', "`+begun+`"]
`), "--log-level", "debug")
	if _, err := connect(t, url).Emit(t.Context(), "tool:pre", nil); err != nil {
		t.Fatal(err)
	}
	says(t, stderr, `"level":"DEBUG","msg":"call cancelled","hook":"slow"`)
	if strings.Contains(stderr.String(), "hook failed") {
		t.Errorf("a discarded call is logged as failed:\n%s", stderr)
	}
}

func TestRunSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	bad := write(t, "hooks:\n  - id: guard\n    events: [tool:pre]\n    match: dta.x == 1\n    cel: {rules: [{inject: x}]}\n")
	for name, c := range map[string]struct {
		args   []string
		code   int
		want   string
		stderr string
	}{
		"no file is named":       {nil, 2, "give --config FILE or --policy NAME", ""},
		"an unknown flag":        {[]string{"--confg", "x"}, 2, "unknown flag --confg", ""},
		"no file to check":       {[]string{"validate"}, 2, "(see hook-worker validate --help)", ""},
		"the file isn't there":   {[]string{"--config", "/no/such/file"}, 2, "no such file", ""},
		"the file is wrong":      {[]string{"--config", bad}, 2, ": 1 error", bad + ":4:12: hooks[0].match: undeclared reference to 'dta' (did you mean 'data'?)\n    4 |     match: dta.x == 1\n"},
		"a file to check is too": {[]string{"validate", bad}, 1, ": 1 error", bad + ":4:12: "},
		"there is no NATS":       {[]string{"--config", write(t, twoHooks), "--nats-url", "nats://127.0.0.1:1"}, 1, "connect to NATS at nats://127.0.0.1:1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			err := run(t.Context(), c.args, process{stdout: &stdout, stderr: &stderr})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("run = %v; want %s", err, c.want)
			}
			if code := exitCode(err); code != c.code {
				t.Errorf("exit code %d; want %d", code, c.code)
			}
			if !strings.HasPrefix(stderr.String(), c.stderr) {
				t.Errorf("stderr:\n%s\nwant %s", &stderr, c.stderr)
			}
		})
	}
}

// TestValidatePrintsWhatAFileRegisters has hooks that leave everything to the defaults of
// their builtins, and some that do not.
func TestValidatePrintsWhatAFileRegisters(t *testing.T) {
	t.Parallel()
	file := write(t, `
hooks:
  - {id: paths, builtin: path-guard}
  - {id: fewer, builtin: path-guard, events: ["tool:*"], on_failure: continue, timeout_ms: 100, match: "tool.class == 'file'"}
  - {id: todos, builtin: todo-display}
  - {id: rules, events: [a], cel: {rules: [{inject: no}]}}
`)
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, file + `: 4 hooks, all well
  rules: on a, priority 0, on_failure continue, mode enforce, timeout_ms 5000,
      durable false
  paths: on tool:pre, priority 5, on_failure deny, mode enforce, timeout_ms
      5000, durable true, effect validate
  fewer: on tool:*, priority 5, on_failure continue, mode enforce, timeout_ms
      100, durable false, effect validate, match tool.class == 'file'
  todos: on prompt:submit tool:post session:end, priority 20, on_failure
      continue, mode enforce, timeout_ms 5000, durable false
  todos-channels: contributes to session.todos
`},
		{[]string{"--json"}, `{"file":"` + file + `","registrations":[` +
			`{"id":"rules","name":"rules","events":["a"],"timeout_ms":5000,"on_failure":"continue","mode":"enforce","durable":false,"protocol":1},` +
			`{"id":"paths","name":"paths","events":["tool:pre"],"priority":5,"timeout_ms":5000,"on_failure":"deny","mode":"enforce","durable":true,"effect":"validate","replay_safe":true,"protocol":1},` +
			`{"id":"fewer","name":"fewer","events":["tool:*"],"priority":5,"timeout_ms":100,"on_failure":"continue","match":"tool.class == 'file'","mode":"enforce","durable":false,"effect":"validate","replay_safe":true,"protocol":1},` +
			`{"id":"todos","name":"todos","events":["prompt:submit","tool:post","session:end"],"priority":20,"timeout_ms":5000,"on_failure":"continue","mode":"enforce","durable":false,"replay_safe":true,"protocol":1},` +
			`{"id":"todos-channels","name":"todos-channels","channels":["session.todos"],"timeout_ms":5000,"on_failure":"continue","mode":"enforce","durable":false,"protocol":1}]}` + "\n"},
	} {
		var stdout, stderr bytes.Buffer
		if err := run(t.Context(), append([]string{"validate", file}, c.args...), process{stdout: &stdout, stderr: &stderr}); err != nil {
			t.Fatalf("run: %v\n%s", err, &stderr)
		}
		if diff := cmp.Diff(c.want, stdout.String()); diff != "" {
			t.Errorf("stdout (-want +got):\n%s", diff)
		}
	}
}

func TestValidateTellsWarnings(t *testing.T) {
	t.Parallel()
	file := write(t, "hooks:\n  - id: a\n    events: [tool:per]\n    cel: {rules: [{inject: x}]}\n")
	message := "there is no standard event tool:per: did you mean tool:pre?"
	warning := file + ":3:14: hooks[0].events[0]: " + message
	for arg, want := range map[string]struct{ out, err string }{
		"":         {file + ": 1 hook, 1 warning\n  a: on tool:per, ", "<nil>"},
		"--json":   {`"warnings":[{"file":"` + file + `","line":3,"column":14,"path":"hooks[0].events[0]","message":"` + message + `"}]}`, "<nil>"},
		"--strict": {"", file + ": 1 warning, and --strict takes them for errors"},
	} {
		args := []string{"validate", file}
		if arg != "" {
			args = append(args, arg)
		}
		var stdout, stderr bytes.Buffer
		err := run(t.Context(), args, process{stdout: &stdout, stderr: &stderr})
		if !strings.Contains(stdout.String(), want.out) || fmt.Sprint(err) != want.err || err != nil && exitCode(err) != 1 {
			t.Errorf("%s: %v, %q; want %s, %q", arg, err, &stdout, want.err, want.out)
		}
		if !strings.HasPrefix(stderr.String(), "warning: "+warning+"\n    3 |     events: [tool:per]\n") {
			t.Errorf("%s: stderr:\n%s", arg, &stderr)
		}
	}
}

func TestValidateTellsWarningsOfTests(t *testing.T) {
	t.Parallel()
	file := write(t, "hooks:\n  - {id: a, events: ['tool:pre'], cel: {rules: [{inject: x}]}}\ntests:\n  - {name: b, event: 'tool:per', expect: {action: continue}}\n")
	var stdout, stderr bytes.Buffer
	err := run(t.Context(), []string{"validate", file}, process{stdout: &stdout, stderr: &stderr})
	if err != nil || !strings.Contains(stderr.String(), "warning: "+file+":4:22: tests[0].event: there is no standard event tool:per: did you mean tool:pre?") {
		t.Errorf("%v, stderr:\n%s", err, &stderr)
	}
}

// TestValidateTellsProgramsWhatIsWrong has a line for each file, well or not.
func TestValidateTellsProgramsWhatIsWrong(t *testing.T) {
	t.Parallel()
	well := write(t, denying("a=x"))
	wrong := write(t, "hooks:\n  - {id: a, evnts: [tool:pre], cel: {rules: [{deny: x}]}}\n  - {id: b, events: [a], cel: {rules: [{deny: x, when: 'dta'}]}}\n")
	gone := wrong + ".gone"
	var stdout, stderr bytes.Buffer
	err := run(t.Context(), []string{"validate", "--json", wrong, gone, well}, process{stdout: &stdout, stderr: &stderr})
	if err == nil || exitCode(err) != 1 {
		t.Errorf("run = %v; want the exit code 1", err)
	}
	var got []validated
	for line := range strings.Lines(stdout.String()) {
		var v validated
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		got = append(got, v)
	}
	if len(got) != 3 || len(got[1].Errors) != 1 || len(got[2].Registrations) != 1 {
		t.Fatalf("stdout:\n%s", &stdout)
	}
	want := []remark{
		{wrong, 2, 13, "hooks[0]", `unknown key "evnts": did you mean "events"?`},
		{wrong, 3, 57, "hooks[1].cel.rules[0].when", "undeclared reference to 'dta' (did you mean 'data'?)"},
	}
	if diff := cmp.Diff(want, got[0].Errors); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	if e := got[1].Errors[0]; e.File != gone || e.Line != 0 || !strings.Contains(e.Message, "no such file") {
		t.Errorf("of a file that is not there: %+v", e)
	}
	if got[2].File != well || got[2].Errors != nil {
		t.Errorf("of a file that is well: %+v", got[2])
	}
}

func TestValidateTellsWarningsBesideErrors(t *testing.T) {
	t.Parallel()
	file := write(t, "hooks:\n  - {id: a, events: ['tool:per'], cel: {rules: [{inject: x}]}}\n  - {id: b, evnts: [a], cel: {rules: [{deny: x}]}}\n")
	for _, form := range []string{"", "--json"} {
		args := []string{"validate", file}
		if form != "" {
			args = append(args, form)
		}
		var stdout, stderr bytes.Buffer
		err := run(t.Context(), args, process{stdout: &stdout, stderr: &stderr})
		if err == nil || exitCode(err) != 1 || !strings.Contains(stderr.String(), "warning: "+file+":2:") || !strings.Contains(stderr.String(), `unknown key "evnts"`) {
			t.Errorf("%v, stderr:\n%s", err, &stderr)
		}
		if form != "" && (!strings.Contains(stdout.String(), `"warnings":[{`) || !strings.Contains(stdout.String(), `"errors":[{`)) {
			t.Errorf("stdout %s", &stdout)
		}
	}
}
