package agents_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/pinned"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

type finding struct{ Agent, Scope, State, Text string }

func (m *machine) doctor(args ...string) (code int, list []finding) {
	m.t.Helper()
	o := m.run("", append([]string{"--json", "doctor"}, args...)...)
	if err := json.Unmarshal([]byte(o.stdout), &list); err != nil {
		m.t.Fatalf("%v: %+v", err, o)
	}
	return o.code, list
}

func texts(list []finding, state string) string {
	var b strings.Builder
	for _, f := range list {
		if f.State == state {
			b.WriteString(f.Agent + ": " + f.Text + "\n")
		}
	}
	return b.String()
}

// asking returns a machine on which agents are connected with the real program.
func asking(t *testing.T, url string, agents ...string) *machine {
	t.Helper()
	m := newMachine(t)
	m.hookAgent = testkit.Program(t, "hook-agent")
	m.env["NATS_URL"] = url
	for _, agent := range agents {
		m.connect(agent)
	}
	return m
}

// Every agent's hook is tested with the real program: with a router, without one, and with its
// second process killed.
func TestDoctor(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("finds the second process in /proc")
	}
	s := natstest.Listening(t)
	routertest.Start(t, s, router.Options{})
	notes := map[string]string{
		"codex": "codex: Codex silently skips hooks that nobody has trusted", "claude-code": "claude-code: not gated: SessionStart",
		"gemini": "gemini: not gated: SessionStart", "goose": "goose: goose is not in PATH",
	}
	var all []string
	for _, d := range agenthook.Dialects() {
		all = append(all, d.Name)
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			code, list := asking(t, s.ClientURL(), d.Name).doctor()
			if failed := texts(list, "fail"); code != 0 || failed != "" {
				t.Errorf("exit code %d: %s", code, failed)
			}
			for _, want := range []string{"the router answers", "without a router", "second process killed"} {
				if !strings.Contains(texts(list, "ok"), d.Name+": "+want) && !strings.Contains(texts(list, "ok"), d.Name+": with hook-agent's "+want) {
					t.Errorf("nothing says %q in\n%s", want, texts(list, "ok"))
				}
			}
			if !strings.Contains(texts(list, "note"), notes[d.Name]) {
				t.Errorf("nothing says %q in\n%s", notes[d.Name], texts(list, "note"))
			}
		})
	}
	t.Run("a table of all", func(t *testing.T) {
		t.Parallel()
		if testkit.CurrentTier(t) == testkit.Smoke {
			all = []string{"claude-code", "goose"} // the others are tested above
		}
		m := asking(t, s.ClientURL(), all...)
		table := m.run("", "--text", "doctor").stdout
		for line := range strings.Lines(table) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("%d columns, and a terminal has 80: %s", n, line)
			}
		}
		for _, agent := range all {
			if !strings.Contains(table, "\n"+agent) && !strings.HasPrefix(table, agent) {
				t.Errorf("%s is missing in\n%s", agent, table)
			}
		}
		code, list := m.doctor("goose", "--start-agent")
		if code != 1 || !strings.Contains(texts(list, "fail"), "goose: goose is not in PATH") || slices.ContainsFunc(list, func(f finding) bool { return f.Agent != "goose" }) {
			t.Errorf("exit code %d, %+v", code, list)
		}
	})
}

// A started agent calls its router, or does not.
func TestDoctorStartsAnAgent(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("finds the second process in /proc")
	}
	s := natstest.Listening(t)
	routertest.Start(t, s, router.Options{})
	for name, c := range map[string]struct{ program, state, want string }{
		"asks":        {"#!/bin/sh\n[ \"$1\" = --version ] && exit\nfor prompt; do :; done\nprintf '{\"hook_event_name\":\"UserPromptSubmit\",\"session_id\":\"s\",\"cwd\":\"/\",\"prompt\":\"%s\"}' \"$prompt\" | " + testkit.Program(t, "hook-agent") + " --server=" + s.ClientURL() + " claude-code UserPromptSubmit\nexec sleep 60\n", "ok", "was started, without a model, and asked"},
		"passes over": {"#!/bin/sh\necho no hooks today\n", "fail", "did not ask the router; it said last: no hooks today"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := asking(t, s.ClientURL(), "claude-code")
			if err := os.Chmod(m.write("bin/claude", c.program), 0o700); err != nil {
				t.Fatal(err)
			}
			m.env["PATH"] = filepath.Join(m.home, "bin") + ":" + os.Getenv("PATH")
			if _, list := m.doctor("claude-code", "--start-agent"); !strings.Contains(texts(list, c.state), c.want) {
				t.Errorf("nothing says %q in %+v", c.want, list)
			}
		})
	}
}

// A missing router, and an event without its hook, are reported.
func TestDoctorFindsWhatIsMissing(t *testing.T) {
	t.Parallel()
	m := asking(t, natstest.Listening(t).ClientURL(), "claude-code")
	path := filepath.Join(m.home, ".claude/settings.json") //nolint:gocritic // one below the other
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	less := strings.Replace(string(text), `claude-code PreToolUse"`, `none"`, 1)
	m.write(".claude/settings.json", strings.ReplaceAll(less, " --timeout=", " --patience=1ms --timeout=")) // otherwise it waits for the router for two seconds
	code, list := m.doctor("claude-code")
	if failed := texts(list, "fail"); code != 1 || !strings.Contains(failed, "is hook-router running") || !strings.Contains(failed, "no hook for PreToolUse") {
		t.Errorf("exit code %d: %s", code, failed)
	}
}

// Settings that look as if they had the gate, but do not, are reported.
func TestDoctorFindsWhatTakesTheGateAway(t *testing.T) {
	t.Parallel()
	s := natstest.Listening(t)
	routertest.Start(t, s, router.Options{})
	event := `"PreToolUse": [
      {
        "hooks": [
          {
            "command": "`
	for name, change := range map[string]func(text string) string{
		"a matcher": func(text string) string {
			return strings.Replace(text, `"PreToolUse": [
      {`, `"PreToolUse": [
      { "matcher": "Nothing",`, 1)
		},
		"another program": func(text string) string { return strings.Replace(text, event, event+"true ", 1) },
		"an open gate": func(text string) string {
			return strings.Replace(text, " claude-code PreToolUse", " --on-unreachable=allow claude-code PreToolUse", 1)
		},
		"an exit code": func(text string) string {
			return strings.Replace(text, " claude-code PreToolUse", " claude-code PreToolUse || true", 1)
		},
		"another case": func(text string) string { return strings.Replace(text, `"hooks": {`, `"Hooks": {`, 1) },
		"a name twice": func(text string) string { return strings.Replace(text, `"hooks": {`, `"hooks": {}, "hooks": {`, 1) },
		"a background hook": func(text string) string {
			return strings.Replace(text, event, strings.TrimSuffix(event, `"command": "`)+`"async": true, "command": "`, 1)
		},
		"imports of other files": func(text string) string { return strings.Replace(text, `"**/!(*.md)"`, `"x"`, 1) },
		"all switched off": func(text string) string {
			return strings.Replace(text, `"hooks": {`, `"disableAllHooks": true, "hooks": {`, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := asking(t, s.ClientURL(), "claude-code")
			path := filepath.Join(m.home, ".claude", "settings.json")
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if code, list := m.doctor("claude-code"); code != 0 {
				t.Fatalf("before: %+v", list)
			}
			changed := change(string(text))
			if changed == string(text) {
				t.Fatalf("nothing is changed in %s", text)
			}
			m.write(".claude/settings.json", changed)
			if code, list := m.doctor("claude-code"); code == 0 {
				t.Errorf("%+v", list)
			}
		})
	}
	m := asking(t, s.ClientURL(), "opencode", "copilot", "gemini")
	plugin, err := os.ReadFile(filepath.Join(m.home, ".config", "opencode", "plugin", "hookrouter.js"))
	if err != nil {
		t.Fatal(err)
	}
	m.write(".config/opencode/plugin/hookrouter.js", strings.Replace(string(plugin), "if (answer.deny) throw", "if (false) throw", 1))
	if code, list := m.doctor("opencode"); code == 0 {
		t.Errorf("%+v", list)
	}
	if code, list := m.doctor("copilot"); code != 0 {
		t.Errorf("%+v", list)
	}
	gemini, err := os.ReadFile(filepath.Join(m.home, ".gemini", "settings.json"))
	if err != nil {
		t.Fatal(err)
	}
	const disabled = `"hooksConfig": {"disabled": ["/bin/hook-agent --server=x gemini BeforeTool"]}, "hooks": {`
	m.write(".gemini/settings.json", strings.Replace(string(gemini), `"hooks": {`, disabled, 1))
	if code, list := m.doctor("gemini"); code == 0 || !strings.Contains(texts(list, "fail"), "switches hooks of hook-agent off") {
		t.Errorf("%+v", list)
	}
}

// A project's settings do not make hookctl run a program of the project, even one in PATH.
func TestDoctorRunsNoProgramOfAProject(t *testing.T) {
	m := newMachine(t)
	t.Chdir(t.TempDir())
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	evil := filepath.Join(dir, "bin", "hook-agent")
	if err := os.Mkdir("bin", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(evil, []byte("#!/bin/sh\ntouch ran\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	m.must("--text", "connect", "claude-code", "--yes", "--scope", "project", "--hook-agent", evil)
	for _, path := range []string{m.env["PATH"], filepath.Dir(evil), filepath.Join(dir, "other", "..", "bin")} {
		m.env["PATH"] = path
		code, list := m.doctor()
		if _, err := os.Stat("ran"); err == nil || code == 0 || !strings.Contains(texts(list, "fail"), "which was not tried") {
			t.Errorf("PATH %s: exit code %d, %v: %+v", path, code, err, list)
		}
	}
}

// A project's settings may name any router: doctor reports it if it is not the user's own.
func TestDoctorNamesTheRouterOfAProject(t *testing.T) {
	s := natstest.Listening(t)
	routertest.Start(t, s, router.Options{})
	m := asking(t, s.ClientURL())
	m.env["PATH"] = filepath.Dir(m.hookAgent)
	t.Chdir(t.TempDir())
	m.connect("claude-code", "--scope", "project")
	if _, list := m.doctor(); strings.Contains(texts(list, "note"), "the router is the one that") {
		t.Errorf("its own router: %+v", list)
	}
	m.env["NATS_URL"] = "nats://127.0.0.1:1"
	if _, list := m.doctor(); !strings.Contains(texts(list, "note"), "settings.json names (--server="+s.ClientURL()+")") {
		t.Errorf("another router: %+v", list)
	}
}

func TestDoctorOfOneAgent(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.connect("claude-code")
	if o := m.run("", "--text", "doctor", "codex"); o.code != 1 || o.stderr != "hookctl: codex is not connected: hookctl connect codex\n" {
		t.Errorf("%+v", o)
	}
	path := m.write(".claude/settings.json", `{"hooks": {"PreToolUse": [{"hooks": [{"command": "hook-agent`)
	m.write(".gemini/settings.json", "bad")
	for _, args := range [][]string{nil, {"claude-code"}} {
		code, list := m.doctor(args...)
		if want := "claude-code: claude runs no hook of " + path + ": it is not valid JSON: "; code != 1 || len(list) != 1 || !strings.HasPrefix(texts(list, "fail"), want) {
			t.Errorf("%v: exit code %d, %+v; want %s", args, code, list, want)
		}
	}
	if code, list := m.doctor("gemini"); code != 1 || !strings.Contains(texts(list, "fail"), ".gemini/settings.json: it is not valid JSON: ") {
		t.Errorf("exit code %d, %+v", code, list)
	}
}

// In the home directory, the project's file is the user's: it is shown and tested once.
func TestTheHomeIsNoProject(t *testing.T) {
	m := newMachine(t)
	t.Chdir(m.home)
	m.connect("claude-code")
	for _, args := range [][]string{{"--text", "connect"}, {"--text", "doctor"}} {
		if o := m.run("", args...); !strings.Contains(o.stdout, "user") || strings.Contains(o.stdout, "project") {
			t.Errorf("%v: %+v", args, o)
		}
	}
}

// Guards that no worker serves deny the agent's events, even though the router answers the probe.
func TestDoctorNamesGuardsThatNobodyServes(t *testing.T) {
	t.Parallel()
	s := natstest.Listening(t)
	guards, err := pinned.New(pinned.Guard{ID: "pinned", Events: []string{"tool:pre"}})
	if err != nil {
		t.Fatal(err)
	}
	routertest.Start(t, s, router.Options{Guards: guards})
	m := newMachine(t)
	m.hookAgent = testkit.Program(t, "hook-agent")
	m.env["NATS_URL"] = s.ClientURL()
	m.connect("claude-code")
	w := natstest.Worker(t, natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}), worker.Options{})
	durable := true
	for _, reg := range []worker.Registration{
		{ID: "left", Events: []string{"tool:*"}, OnFailure: chain.FailClosed},
		{ID: "served", Events: []string{"tool:pre"}, OnFailure: chain.FailClosed},
		{ID: "elsewhere", Events: []string{"deploy:start"}, OnFailure: chain.FailClosed},
		{ID: "lenient", Events: []string{"tool:pre"}, Durable: &durable},
		{ID: "tried", Events: []string{"tool:pre"}, OnFailure: chain.FailClosed, Mode: chain.Shadow},
		{ID: "of-a-session", Events: []string{"tool:pre"}, OnFailure: chain.FailClosed, SessionID: "s1"},
	} {
		leave, err := w.Register(t.Context(), reg, func(context.Context, worker.Event) (worker.Result, error) { return worker.Continue() })
		if err == nil && reg.ID != "served" {
			err = leave(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if code, list := m.doctor(); code != 1 || texts(list, "fail") != "claude-code: no worker serves pinned, left: what they guard is denied until hook-worker runs\n" {
		t.Errorf("exit code %d, %+v", code, list)
	}
}
