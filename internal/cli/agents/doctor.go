package agents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
)

// DoctorCmd tests the hooks of connected agents.
type DoctorCmd struct {
	Agent string `arg:"" optional:"" help:"The agent; default: all that are connected."`

	StartAgent bool `name:"start-agent" help:"Start the agent's own program too, with a prompt but without its model: no tokens, no network."`
}

// finding is one result of doctor.
type finding struct {
	Agent string `json:"agent"`
	Scope string `json:"scope"`
	State string `json:"state"` // ok, fail or note
	Text  string `json:"text"`
}

// Run tests each connected configuration. It exits with 1 if a test fails.
func (c *DoctorCmd) Run(ctx context.Context, e *cli.Env) error {
	all := []finding{}
	for _, t := range targets() {
		if c.Agent != "" && c.Agent != t.dialect {
			continue
		}
		for _, scope := range []string{user, project, managed} {
			t, path, err := t.configuration(scope, e.Getenv)
			if err != nil || t.repeats(scope, e.Getenv) {
				continue
			}
			for _, f := range c.test(ctx, e, t, scope, path) {
				f.Agent, f.Scope = t.dialect, scope
				all = append(all, f)
			}
		}
	}
	if len(all) == 0 {
		if c.Agent != "" {
			if _, err := find(c.Agent); err != nil {
				return err
			}
			return fmt.Errorf("%s is not connected: hookctl connect %s", c.Agent, c.Agent)
		}
		return errors.New("no agent is connected here: see `hookctl connect`")
	}
	if slices.ContainsFunc(all, func(f finding) bool { return f.State == "fail" }) {
		e.Exit = cli.ExitLocal
	}
	show(e.Out, all)
	return nil
}

// test tests one configuration; no findings mean that it is not connected.
func (c *DoctorCmd) test(ctx context.Context, e *cli.Env, t target, scope, path string) (found findings) {
	text, _ := read(path)
	if broken := t.broken(text); broken != nil {
		if c.Agent != "" || bytes.Contains(text, []byte("hook-agent")) {
			found.say("fail", "%s runs no hook of %s: %v", t.program, path, broken)
		}
		return found
	}
	if !t.connected(path) {
		return nil
	}
	found = t.examine(ctx, e, path)
	switch {
	case c.StartAgent:
		found = append(found, t.start(ctx, e, scope))
	case !t.installed(e.Getenv("PATH")):
		found.say("note", "%s", t.absent())
	default:
		found.say("note", "%s itself was not started: --start-agent tries whether it runs the hook", t.program)
	}
	return found
}

func show(out *term.Printer, all []finding) {
	if out.Document(all) {
		return
	}
	colors := map[string]term.Color{"ok": term.Green, "fail": term.Red, "note": term.Dim}
	rows := [][]term.Cell{}
	for _, f := range all {
		rows = append(rows, term.Row(f.Agent, f.Scope, colors[f.State].Cell(f.State), f.Text))
	}
	out.Table(rows)
}

// findings are the results for one configuration.
type findings []finding

func (f *findings) say(state, format string, args ...any) {
	*f = append(*f, finding{State: state, Text: fmt.Sprintf(format, args...)})
}

// examine tests one configuration.
func (t target) examine(ctx context.Context, e *cli.Env, path string) (list findings) {
	d, _ := agenthook.Find(t.dialect)
	text, err := os.ReadFile(path)
	if err != nil {
		list.say("fail", "%v", err)
		return list
	}
	h, ok := written(text, t)
	if t.dialect == "opencode" {
		h, ok = inPlugin(string(text))
	}
	if !ok {
		list.say("fail", "%s can't be read: connect again", path)
		return list
	}
	h.target = t
	missing := []string{}
	for _, event := range d.Events {
		if _, there := commands(text, t)[event.Native]; !there && event.Gated() && t.dialect != "opencode" {
			missing = append(missing, event.Native)
		}
	}
	if len(missing) > 0 {
		list.say("fail", "%s has no hook for %s: connect again", path, strings.Join(missing, ", "))
	}
	t.checkHooks(path, e.Getenv, text, h, &list)
	ofProject := t.ofProject(path, e.Getenv("HOME"))
	if ofProject && !isOurs(h.program, e.Getenv("PATH")) {
		list.say("fail", "%s starts %s, which was not tried: it is neither the hook-agent beside hookctl nor the one in PATH, and whoever writes to the project can name any program", path, h.program)
		return list
	}
	if own, err := arguments(e); ofProject && (err != nil || !slices.Equal(own, h.args)) {
		list.say("note", "the router is the one that %s names (%s), and whoever writes to the project can name any", path, strings.Join(h.args, " "))
	}
	fatal, ungated := t.lacks(ctx, e.Getenv("PATH"))
	if fatal != "" {
		list.say("fail", "%s", fatal)
	}
	h.tryAll(ctx, e, d, &list)
	if ungated != "" {
		list.say("note", "%s", ungated)
	}
	t.limits(d, path, &list)
	return list
}

// tryAll runs the hook with a router, without a router, and while its second process is killed.
func (h hooks) tryAll(ctx context.Context, e *cli.Env, d agenthook.Dialect, list *findings) {
	began := time.Now()
	switch reason, err := h.try(ctx, nil); {
	case err != nil:
		list.say("fail", "%v", err)
	case reason != "":
		list.say("fail", "%s", reason)
	default:
		list.say("ok", "the router answers, in %s", time.Since(began).Round(100*time.Microsecond))
		h.unserved(ctx, e, d, list)
	}
	if reason, err := h.try(ctx, nil, "--server=nats://127.0.0.1:1", "--patience=1ms"); err != nil || reason == "" {
		list.say("fail", "without a router, hook-agent does not block: %v", err)
	} else {
		list.say("ok", "without a router, %s is told to block", d.Agent)
	}
	switch reason, err := h.try(ctx, killChild); {
	case err != nil:
		list.say("note", "what happens if hook-agent is killed was not tried: %v", err)
	case reason == "":
		list.say("fail", "with its second process killed, hook-agent does not block")
	default:
		list.say("ok", "with hook-agent's second process killed, %s is told to block", d.Agent)
	}
}

// limits reports what the hooks of an agent do not gate.
func (t target) limits(d agenthook.Dialect, path string, list *findings) {
	if d.FailsOpen {
		list.say("note", "%s goes on if the process that it started is killed, or exceeds its timeout", d.Agent)
	}
	var ungated []string
	for _, e := range d.Events {
		if !e.Gated() {
			ungated = append(ungated, e.Native)
		}
	}
	list.say("note", "not gated: %s", strings.Join(ungated, ", "))
	switch {
	case t.dialect == "claude-code":
		list.say("note", "hooks of skills and agents run beside hook-agent, and may change what it judged, unless managed settings have allowManagedHooksOnly")
	case t.dialect == "gemini":
		list.say("note", "an editor that runs gemini with --acp calls no hooks: tools are not gated there")
	case t.demands:
		list.say("note", "Codex runs the hooks of %s without asking for trust, and people can't switch them off", path)
	case t.dialect == "codex":
		list.say("note", "Codex silently skips hooks that nobody has trusted: start codex, run /hooks and trust hook-agent, again after each connect. `hookctl connect codex --scope managed`, as root, needs no trust and permits sub-agents")
	}
}
