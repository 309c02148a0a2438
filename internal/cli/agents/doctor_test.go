package agents_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
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

// Every agent's hook is tried with the real program: with a router, without one, and with
// its second process killed.
func TestDoctor(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("finds the second process in /proc")
	}
	s := natstest.Listening(t)
	_, stop := routertest.Start(t, s, router.Options{})
	m := newMachine(t)
	m.hookAgent = testkit.Program(t, "hook-agent")
	m.env["NATS_URL"] = s.ClientURL()
	for _, d := range agenthook.Dialects() {
		m.connect(d.Name)
	}
	table := []string{"--text", "doctor"}
	if testkit.CurrentTier(t) == testkit.Smoke {
		table = append(table, "claude-code") // below, all are tried once
	}
	for line := range strings.Lines(m.run("", table...).stdout) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns, and a terminal has 80: %s", n, line)
		}
	}
	code, list := m.doctor()
	if failed := texts(list, "fail"); code != 0 || failed != "" {
		t.Errorf("exit code %d: %s", code, failed)
	}
	for _, d := range agenthook.Dialects() {
		for _, want := range []string{"the router answers", "without a router", "second process killed"} {
			if !strings.Contains(texts(list, "ok"), d.Name+": "+want) && !strings.Contains(texts(list, "ok"), d.Name+": with hook-agent's "+want) {
				t.Errorf("%s: nothing says %q in\n%s", d.Name, want, texts(list, "ok"))
			}
		}
	}
	for _, want := range []string{"codex: Codex silently skips hooks that nobody has trusted", "claude-code: Claude Code goes on if the process", "gemini: not gated: SessionStart"} {
		if !strings.Contains(texts(list, "note"), want) {
			t.Errorf("nothing says %q in\n%s", want, texts(list, "note"))
		}
	}
	for name, c := range map[string]struct{ program, state, want string }{
		"asks":        {"#!/bin/sh\nfor prompt; do :; done\nprintf '{\"hook_event_name\":\"UserPromptSubmit\",\"session_id\":\"s\",\"cwd\":\"/\",\"prompt\":\"%s\"}' \"$prompt\" | " + m.hookAgent + " --server=" + s.ClientURL() + " claude-code UserPromptSubmit\nexec sleep 60\n", "ok", "was started, without a model, and asked"},
		"passes over": {"#!/bin/sh\necho no hooks today\n", "fail", "did not ask the router; it said last: no hooks today"},
	} {
		m.write("bin/claude", c.program)
		if err := os.Chmod(filepath.Join(m.home, "bin", "claude"), 0o700); err != nil {
			t.Fatal(err)
		}
		m.env["PATH"] = filepath.Join(m.home, "bin") + ":" + os.Getenv("PATH")
		if _, list := m.doctor("claude-code", "--start-agent"); !strings.Contains(texts(list, c.state), c.want) {
			t.Errorf("%s: nothing says %q in %+v", name, c.want, list)
		}
	}
	for flag, want := range map[string]struct {
		code  int
		state string
	}{"": {0, "note"}, "--start-agent": {1, "fail"}} {
		if code, list := m.doctor(strings.Fields("goose " + flag)...); code != want.code || !strings.Contains(texts(list, want.state), "goose: goose is not in PATH") {
			t.Errorf("%s: exit code %d, %+v", flag, code, list)
		}
	}
	stop()
	path := filepath.Join(m.home, ".claude/settings.json") //nolint:gocritic // one below the other
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m.write(".claude/settings.json", strings.Replace(string(text), `claude-code PreToolUse"`, `none"`, 1))
	code, list = m.doctor("claude-code")
	if failed := texts(list, "fail"); code != 1 || !strings.Contains(failed, "is hook-router running") || !strings.Contains(failed, "no hook for PreToolUse") {
		t.Errorf("exit code %d: %s", code, failed)
	}
}

// An agent that is not connected, and one whose file is malformed, are named.
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
		if want := "claude-code: claude runs no hook of " + path + ": it is no valid JSON: "; code != 1 || len(list) != 1 || !strings.HasPrefix(texts(list, "fail"), want) {
			t.Errorf("%v: exit code %d, %+v; want %s", args, code, list, want)
		}
	}
	if code, list := m.doctor("gemini"); code != 1 || !strings.Contains(texts(list, "fail"), ".gemini/settings.json: it is no valid JSON: ") {
		t.Errorf("exit code %d, %+v", code, list)
	}
}

// Guards that no worker serves deny what the agent does, though the router answers the probe.
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
	w, err := worker.New(natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}), worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close(context.Background()) })
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
