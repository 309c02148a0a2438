package agents

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
)

// DoctorCmd tries the hooks of connected agents.
type DoctorCmd struct {
	Agent string `arg:"" optional:"" help:"The agent; default: all that are connected."`

	StartAgent bool `name:"start-agent" help:"Start the agent's own program too, with a prompt but without its model: no tokens, no network."`
}

// finding is what doctor says of one thing.
type finding struct {
	Agent string `json:"agent"`
	Scope string `json:"scope"`
	State string `json:"state"` // ok, fail or note
	Text  string `json:"text"`
}

// Run tries each connected configuration. It ends with 1 where something fails.
func (c *DoctorCmd) Run(ctx context.Context, e *cli.Env) error {
	all := []finding{}
	for _, t := range targets() {
		if c.Agent != "" && c.Agent != t.dialect {
			continue
		}
		for _, scope := range []string{user, project, managed} {
			t, path, err := t.configuration(scope, e.Getenv("HOME"))
			if err != nil || !t.connected(path) {
				continue
			}
			found := t.examine(ctx, path)
			switch {
			case c.StartAgent:
				found = append(found, t.start(ctx, e, scope))
			default:
				found = append(found, finding{State: "note", Text: t.program + " itself was not started: whether it runs the hook is what --start-agent tries"})
			}
			for _, f := range found {
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
		}
		return fmt.Errorf("no agent is connected here: see `hookctl connect`")
	}
	if slices.ContainsFunc(all, func(f finding) bool { return f.State == "fail" }) {
		e.Exit = cli.ExitLocal
	}
	if e.Out.Document(all) {
		return nil
	}
	colors := map[string]term.Color{"ok": term.Green, "fail": term.Red, "note": term.Dim}
	rows := [][]term.Cell{}
	for _, f := range all {
		rows = append(rows, term.Row(f.Agent, f.Scope, colors[f.State].Cell(f.State), f.Text))
	}
	e.Out.Table(rows)
	return nil
}

// examine tries one configuration.
func (t target) examine(ctx context.Context, path string) (list []finding) {
	say := func(state, format string, args ...any) {
		list = append(list, finding{State: state, Text: fmt.Sprintf(format, args...)})
	}
	d, _ := agenthook.Find(t.dialect)
	text, err := os.ReadFile(path)
	if err != nil {
		say("fail", "%v", err)
		return list
	}
	h, ok := written(text, t)
	if t.dialect == "opencode" {
		h, ok = inPlugin(string(text))
	}
	if !ok {
		say("fail", "%s can't be read: connect again", path)
		return list
	}
	h.target = t
	missing := []string{}
	for _, e := range d.Events {
		if _, there := commands(text, t)[e.Native]; !there && e.Gated() && t.dialect != "opencode" {
			missing = append(missing, e.Native)
		}
	}
	if len(missing) > 0 {
		say("fail", "%s has no hook for %s: connect again", path, strings.Join(missing, ", "))
	}
	began := time.Now()
	switch reason, err := h.try(ctx, nil); {
	case err != nil:
		say("fail", "%v", err)
	case reason != "":
		say("fail", "%s", reason)
	default:
		say("ok", "the router answers, in %s", time.Since(began).Round(100*time.Microsecond))
	}
	if reason, err := h.try(ctx, nil, "--server=nats://127.0.0.1:1", "--patience=1ms"); err != nil || reason == "" {
		say("fail", "without a router, hook-agent does not block: %v", err)
	} else {
		say("ok", "without a router, %s is told to block", d.Agent)
	}
	switch reason, err := h.try(ctx, killChild); {
	case err != nil:
		say("note", "what happens where hook-agent is killed was not tried: %v", err)
	case reason == "":
		say("fail", "with its second process killed, hook-agent does not block")
	default:
		say("ok", "with hook-agent's second process killed, %s is told to block", d.Agent)
	}
	if d.FailsOpen {
		say("note", "%s goes on where the process that it started is killed, or takes longer than its time-out", d.Agent)
	}
	var ungated []string
	for _, e := range d.Events {
		if !e.Gated() {
			ungated = append(ungated, e.Native)
		}
	}
	say("note", "not gated: %s", strings.Join(ungated, ", "))
	if t.demands {
		say("note", "Codex runs the hooks of %s without anybody's trust, and people can't switch them off", path)
	} else if t.dialect == "codex" {
		say("note", "Codex passes over hooks that nobody has trusted, without a word: start codex, run /hooks and trust hook-agent; again whenever it is connected anew. `hookctl connect codex --scope managed`, as root, needs no trust")
	}
	return list
}
