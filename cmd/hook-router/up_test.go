package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/signals"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

// screen is an output that a test reads while it is written.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// running is a hook-router up of a test.
type running struct {
	out, log *screen
	url      string
	stop     func() error
}

var natsURL = regexp.MustCompile(`NATS +(nats://\S+)`)

// startUp runs hook-router up until the test ends, or stop is called.
func startUp(t *testing.T, sig signals.Signals, args ...string) running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := running{out: &screen{}, log: &screen{}}
	done := make(chan error, 1)
	args = append([]string{"up", "--nats-listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0", "--agent-http-listen", ""}, args...)
	go func() { done <- run(ctx, args, r.out, r.log, sig) }()
	r.stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Errorf("up: %v", err)
		}
	})
	testkit.Eventually(t, "it is up", func() bool {
		select {
		case err := <-done:
			done <- err
			t.Fatalf("up: %v\n%s", err, r.log)
		default:
		}
		return strings.Contains(r.out.String(), "hookctl why")
	})
	r.url = natsURL.FindStringSubmatch(r.out.String())[1]
	return r
}

func (r running) client(t *testing.T, role hookrouter.Role) *hookrouter.Client {
	t.Helper()
	return natstest.Client(t, hookrouter.Options{URL: r.url, Role: role})
}

func (r running) emit(t *testing.T, data string) agent.Answer {
	t.Helper()
	a, err := agent.New(r.client(t, hookrouter.RoleAgent), agent.Options{Session: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.Emit(t.Context(), "tool:pre", json.RawMessage(data))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestUpServesTheStarterPolicy(t *testing.T) {
	t.Parallel()
	store := t.TempDir()
	for range 2 { // and again, on what the first one left
		r := startUp(t, signals.Signals{}, "--store-dir", store)
		for data, want := range map[string]chain.Action{
			`{"tool_name":"Bash","cwd":"/repo","tool_input":{"command":"go test ./..."}}`:   chain.Continue,
			`{"tool_name":"Read","cwd":"/repo","tool_input":{"file_path":"~/.ssh/id_rsa"}}`: chain.Deny,
		} {
			if got := r.emit(t, data); got.Action != want {
				t.Errorf("%s: %+v, want %s", data, got.Result, want)
			}
		}
		for line := range strings.Lines(r.out.String()) {
			if len([]rune(line)) > 81 && !strings.Contains(line, "#token=") {
				t.Errorf("a terminal has 80 columns: %s", line)
			}
		}
		if strings.Contains(r.out.String(), "note") {
			t.Errorf("there are notes:\n%s", r.out)
		}
		for _, want := range []string{"the starter policy for coding agents, ", "/#token=", "hookctl connect claude-code", "hookctl watch", "export NATS_URL=" + r.url} {
			if !strings.Contains(r.out.String(), want) {
				t.Errorf("the output has no %q:\n%s", want, r.out)
			}
		}
		if err := r.stop(); err != nil {
			t.Fatal(err)
		}
	}
	policy := filepath.Join(t.TempDir(), "worker.yaml")
	if err := os.WriteFile(policy, []byte(tools), 0o600); err != nil {
		t.Fatal(err)
	}
	r := startUp(t, signals.Signals{}, "--store-dir", store, "--policy", policy)
	note := "note guards of another policy deny until their workers run, or until hookctl hook rm ID ...: path-guard, command-guard, "
	if !strings.Contains(strings.Join(strings.Fields(r.out.String()), " "), note) {
		t.Errorf("guards are left, and nothing says so:\n%s", r.out)
	}
	for line := range strings.Lines(r.out.String()) {
		if strings.Contains(line, "guard") && len(line) > 81 {
			t.Errorf("a terminal has 80 columns: %s", line)
		}
	}
}

// Nobody takes a guard away while its process runs, and so nothing is decided before it is
// registered either.
func TestUpPinsTheGuardsOfItsPolicy(t *testing.T) {
	t.Parallel()
	r := startUp(t, signals.Signals{}, "--store-dir", t.TempDir())
	m, err := r.client(t, hookrouter.RoleAdmin).Conn().RequestWithContext(t.Context(), "hooks.unregister.path-guard", []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if text := string(m.Data) + strings.Join(m.Header.Values("Nats-Service-Error"), ""); !strings.Contains(text, "pinned guard") {
		t.Errorf("the guard was removed: %q", text)
	}
}

const tools = `
hooks:
  - id: tools
    events: [tool:pre]
    priority: 4
    on_failure: deny
    cel:
      rules:
        - when: data.tool_name == 'Bash'
          deny: no shell
`

func TestUpFollowsItsPolicy(t *testing.T) {
	t.Parallel()
	policy := filepath.Join(t.TempDir(), "worker.yaml")
	write := func(text string) {
		if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(tools)
	hangup := make(chan os.Signal, 1)
	r := startUp(t, signals.Signals{Reload: hangup}, "--store-dir", t.TempDir(), "--policy", policy)
	reloads := func(text, says string) {
		t.Helper()
		before := strings.Count(r.log.String(), says)
		write(text)
		hangup <- syscall.SIGHUP
		testkit.Eventually(t, says, func() bool { return strings.Count(r.log.String(), says) > before })
	}
	const bash, write1 = `{"tool_name":"Bash"}`, `{"tool_name":"Write"}`
	if got := r.emit(t, bash); got.Reason != "no shell" {
		t.Errorf("before: %+v", got)
	}
	reloads(strings.Replace(strings.Replace(tools, "'Bash'", "'Write'", 1), "priority: 4", "priority: 2", 1), "reloaded")
	if got := r.emit(t, bash); got.Action != chain.Continue {
		t.Errorf("after the change: %+v", got)
	}
	if got := r.emit(t, write1); got.Reason != "no shell" {
		t.Errorf("after the change: %+v", got)
	}
	reloads("hooks: [{id: broken}]", "reload failed")
	if got := r.emit(t, write1); got.Reason != "no shell" {
		t.Errorf("after a broken file: %+v", got)
	}
}

// The worker goes on until the router has answered all that it accepted.
func TestUpDrainsTheRouterFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	called, release := filepath.Join(dir, "called"), filepath.Join(dir, "release")
	for _, pipe := range []string{called, release} {
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	policy := filepath.Join(dir, "worker.yaml")
	if err := os.WriteFile(policy, []byte(`
hooks:
  - id: slow
    events: [tool:pre]
    exec:
      command: [sh, -c, 'echo > "$1"; read -r line < "$2"; echo "{\"action\":\"deny\",\"reason\":\"after all\"}"', sh, `+called+`, `+release+`]
`), 0o600); err != nil {
		t.Fatal(err)
	}
	r := startUp(t, signals.Signals{}, "--store-dir", t.TempDir(), "--policy", policy)
	answered := make(chan agent.Answer, 1)
	go func() { answered <- r.emit(t, `{"tool_name":"Bash"}`) }()
	if _, err := os.ReadFile(called); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- r.stop() }()
	if err := os.WriteFile(release, []byte("go\n"), 0); err != nil {
		t.Fatal(err)
	}
	if got := <-answered; got.Reason != "after all" {
		t.Errorf("the call under way got %+v", got)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// Without its worker the process has nothing to say but no: it ends, and says why.
func TestUpEndsWithItsWorker(t *testing.T) {
	t.Parallel()
	store, policy := t.TempDir(), filepath.Join(t.TempDir(), "worker.yaml")
	write := func(registration string) {
		if err := os.WriteFile(policy, []byte(strings.Replace(tools, "priority: 4", registration, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("version: 2.0.0")
	if err := startUp(t, signals.Signals{}, "--store-dir", store, "--policy", policy).stop(); err != nil {
		t.Fatal(err)
	}
	write("version: 1.0.0\n    priority: 7")
	var out, log screen
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	err := run(ctx, []string{"up", "--nats-listen", "127.0.0.1:0", "--http-listen", "", "--agent-http-listen", "", "--store-dir", store, "--policy", policy}, &out, &log, signals.Signals{})
	if err == nil || !strings.Contains(err.Error(), "serve the policy") || !strings.Contains(err.Error(), "2.0.0") {
		t.Errorf("error is %v\n%s\n%s", err, &out, &log)
	}
}

func TestUpSaysWhatIsWrongWithItsPolicy(t *testing.T) {
	policy := filepath.Join(t.TempDir(), "worker.yaml")
	for want, text := range map[string]string{
		"serve the file with hook-worker": "hooks: [{id: a, events: [tool:pre], rego: {policy: x}}]",
		"remove the section nats":         "nats: {url: nats://127.0.0.1:1}\n" + tools,
	} {
		if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, log screen
		err := run(t.Context(), []string{"up", "--store-dir", t.TempDir(), "--policy", policy}, &out, &log, signals.Signals{})
		if err == nil || strings.Count(log.String()+err.Error(), want) != 1 {
			t.Errorf("error is %v\n%swant %q once", err, &log, want)
		}
	}
}

// What a policy says can't act on the terminal of whoever starts it.
func TestUpQuotesItsPolicySafely(t *testing.T) {
	t.Parallel()
	policy := filepath.Join(t.TempDir(), "worker.yaml")
	if err := os.WriteFile(policy, []byte(`hooks: [{id: a, events: "x\ecy", cel: {rules: [{deny: x}]}}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, log screen
	err := run(t.Context(), []string{"up", "--store-dir", t.TempDir(), "--policy", policy}, &out, &log, signals.Signals{})
	if err == nil || !strings.Contains(log.String(), "like [xcy]") {
		t.Errorf("error is %v\n%q", err, log.String())
	}
}

// A policy's warnings are told with its errors, and where it is served in spite of them.
func TestUpTellsTheWarningsOfItsPolicy(t *testing.T) {
	t.Parallel()
	policy := filepath.Join(t.TempDir(), "worker.yaml")
	const misspelt = "hooks:\n  - {id: a, events: ['tool:per'], on_failure: continue, cel: {rules: [{deny: x}]}}\n"
	warning := "warning: " + policy + ":2:22: hooks[0].events[0]: there is no standard event tool:per: did you mean tool:pre?\n    2 |   - {id: a, events: ['tool:per']"
	write := func(text string) {
		if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(misspelt + "  - {id: b, evnts: [a], cel: {rules: [{deny: x}]}}\n")
	var out, log screen
	err := run(t.Context(), []string{"up", "--store-dir", t.TempDir(), "--policy", policy}, &out, &log, signals.Signals{})
	if err == nil || !strings.HasPrefix(log.String(), warning) || !strings.Contains(log.String(), "\n"+policy+":3:13: hooks[1]: unknown key \"evnts\"") {
		t.Errorf("error is %v\n%s", err, &log)
	}
	if want := policy + ": 1 error"; err == nil || err.Error() != want {
		t.Errorf("it ends with %v after what it printed, want %s", err, want)
	}
	write(misspelt)
	if r := startUp(t, signals.Signals{}, "--store-dir", t.TempDir(), "--policy", policy); !strings.Contains(r.log.String(), `"msg":"worker file has a warning","warning":"`+policy+":2:22: hooks[0].events[0]: there is no standard event tool:per: did you mean tool:pre?") {
		t.Errorf("it is up, and the log is\n%s", r.log)
	}
}

// up cannot join the server that is in its way, so it does not advise that.
func TestUpSaysWhatHelpsWhereSomethingIsInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	policy := filepath.Join(dir, "worker.yaml")
	if err := os.WriteFile(policy, []byte(tools), 0o600); err != nil {
		t.Fatal(err)
	}
	startUp(t, signals.Signals{}, "--store-dir", filepath.Join(dir, "data"), "--policy", policy)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--store-dir", filepath.Join(dir, "data")}, "stop that one first, or choose another with --store-dir"},
		{[]string{"--store-dir", filepath.Join(dir, "new"), "--nats-listen", l.Addr().String()}, "Stop it first, or choose another address with --nats-listen"},
		{[]string{"--store-dir", filepath.Join(dir, "data"), "--policy", policy}, "with --store-dir; hook-worker --config " + policy + " serves the policy on the router that runs"},
	} {
		var out, log screen
		err := run(t.Context(), append([]string{"up", "--http-listen", "", "--agent-http-listen", ""}, c.args...), &out, &log, signals.Signals{})
		if err == nil || !strings.HasSuffix(err.Error(), c.want) || strings.Contains(err.Error(), "--nats-url") {
			t.Errorf("%q: error is %v, want that it ends with %s", c.args, err, c.want)
		}
	}
}

func TestABrowserIsOpenedWhereThereIsOne(t *testing.T) {
	for _, c := range []struct {
		system, env, want string
	}{
		{"linux", "", ""},
		{"linux", "DISPLAY", "xdg-open"},
		{"linux", "WAYLAND_DISPLAY", "xdg-open"},
		{"linux", "DISPLAY SSH_CONNECTION", ""},
		{"darwin", "", "open"},
		{"darwin", "SSH_CONNECTION", ""},
		{"windows", "", "rundll32"},
		{"windows", "CI", ""},
		{"plan9", "", ""},
	} {
		got := browser(c.system, func(name string) string {
			if strings.Contains(" "+c.env+" ", " "+name+" ") {
				return "1"
			}
			return ""
		})
		if program := strings.Join(got, " "); !strings.HasPrefix(program, c.want) || c.want == "" && got != nil {
			t.Errorf("%s with %s: %q, want %q", c.system, c.env, got, c.want)
		}
	}
}

// Where somebody sits at a terminal of a desktop, the browser shows the console.
func TestUpOpensTheConsole(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte("#!/bin/sh\ncp \"$1\" part && mv part shown\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"DISPLAY": ":0", "SSH_CONNECTION": "", "CI": "", "PATH": dir + ":" + os.Getenv("PATH")} {
		t.Setenv(name, value)
	}
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = terminal.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, []string{"up", "--store-dir", dir, "--nats-listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0", "--agent-http-listen", ""}, terminal, &screen{}, signals.Signals{})
	}()
	var page []byte
	testkit.Eventually(t, "the browser is opened", func() bool { page, err = os.ReadFile("shown"); return err == nil })
	if !strings.Contains(string(page), "url=http://127.0.0.1:") || !strings.Contains(string(page), "/#token=") {
		t.Errorf("the browser is shown %q", page)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// Whoever sees command lines learns nothing from this one.
func TestTheTokenIsOnNoCommandLine(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	said := filepath.Join(dir, "said")
	if err := syscall.Mkfifo(said, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := openPage(ctx, []string{"sh", "-c", `printf '%s\n' "$*" >` + said, "sh"}, "http://127.0.0.1:1/#token=secret&x", dir); err != nil {
		t.Fatal(err)
	}
	line, err := os.ReadFile(said)
	if err != nil {
		t.Fatal(err)
	}
	page := strings.TrimSpace(string(line))
	text, err := os.ReadFile(page)
	if err != nil || strings.Contains(page, "secret") || !strings.Contains(string(text), "url=http://127.0.0.1:1/#token=secret&amp;x") {
		t.Errorf("the command line is %q, the page %q, error %v", page, text, err)
	}
	if info, err := os.Stat(page); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the page has mode %v, error %v", info.Mode(), err)
	}
	cancel()
	testkit.Eventually(t, "the page is removed", func() bool { _, err := os.Stat(page); return os.IsNotExist(err) })
}
