package approvalpolicy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/builtin/decision"
	"github.com/hookrouter/hookrouter/internal/builtin/paths"
	"github.com/hookrouter/hookrouter/internal/builtin/shell"
	"github.com/hookrouter/hookrouter/internal/hookfile/kind"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/redact"
)

// Builtin is approval-policy.
var Builtin = builtin.Of("Allows, denies or asks about tool calls by an ordered list of rules.",
	chain.Registration{Events: []string{events.ToolPre}, Priority: 10, OnFailure: chain.FailClosed, ReplaySafe: true}, New)

// New builds the hook.
func New(_ kind.Section, o Options) (kind.Hook, error) {
	rules, err := compile(o)
	if err != nil {
		return kind.Hook{}, err
	}
	return kind.Hook{Handler: func(_ context.Context, ev events.Event) (chain.Result, error) {
		tool, ok := events.ToolOf(ev.Name, ev.Data)
		if !ok {
			return chain.Result{}, nil
		}
		c := call{tool: tool, script: shell.Parse(tool.Command, tool.Cwd)}
		for _, path := range tool.Paths {
			c.paths = append(c.paths, paths.Resolve(path, tool.Cwd))
		}
		for _, r := range rules {
			if r.matches(c) {
				return r.result(tool), nil
			}
		}
		return chain.Result{}, fmt.Errorf("no rule decides about the tool %q", tool.Name)
	}}, nil
}

// call is a tool call as rules look at it.
type call struct {
	tool   events.Tool
	script shell.Script
	paths  []paths.Path
}

// matches reports whether the rule decides about a call.
func (r rule) matches(c call) bool {
	if len(r.Tools) > 0 && !slices.ContainsFunc(r.Tools, func(t string) bool { return r.isTool(t, c.tool) }) {
		return false
	}
	limited := len(r.commands)+len(r.paths)+len(r.urls) > 0
	if r.Decision == decision.Allow {
		return !limited || !c.tool.Partial && r.coversCommands(c) && r.coversPaths(c) && r.coversURLs(c)
	}
	return (len(r.commands) == 0 || r.inCommands(c)) &&
		(len(r.paths) == 0 || slices.ContainsFunc(r.paths, func(p paths.Pattern) bool {
			return slices.ContainsFunc(c.paths, func(path paths.Path) bool { return path.MayBe(p) || path.Unclear })
		})) &&
		(len(r.urls) == 0 || slices.ContainsFunc(r.urls, func(p urlPattern) bool { return slices.ContainsFunc(c.tool.URLs, p.mayBe) }))
}

// isTool: a class that was only guessed allows nothing.
func (r rule) isTool(name string, tool events.Tool) bool {
	if slices.Contains(events.ToolClasses(), events.ToolClass(name)) {
		return string(tool.Class) == name && (tool.Known || r.Decision != decision.Allow)
	}
	if r.Decision == decision.Allow {
		return approval.Glob(name, tool.Name)
	}
	return approval.Glob(strings.ToLower(name), strings.ToLower(tool.Name))
}

// coversCommands: all that runs is accounted for. A rule that gives no commands lets
// none pass beside what it gives.
func (r rule) coversCommands(c call) bool {
	if len(r.commands) == 0 {
		return c.tool.Command == ""
	}
	if c.tool.Command == "" || len(c.script.Commands) == 0 || len(c.script.Doubts) > 0 || c.script.Bomb {
		return false
	}
	return !slices.ContainsFunc(c.script.Commands, func(cmd shell.Command) bool {
		return !slices.ContainsFunc(r.commands, func(p shell.Pattern) bool { return p.Covers(cmd) })
	})
}

func (r rule) coversPaths(c call) bool {
	if len(r.paths) == 0 {
		return len(c.paths) == 0
	}
	return len(c.paths) > 0 && !slices.ContainsFunc(c.paths, func(path paths.Path) bool { return !slices.ContainsFunc(r.paths, path.Is) })
}

func (r rule) coversURLs(c call) bool {
	if len(r.urls) == 0 {
		return len(c.tool.URLs) == 0
	}
	return len(c.tool.URLs) > 0 && !slices.ContainsFunc(c.tool.URLs, func(text string) bool {
		return !slices.ContainsFunc(r.urls, func(p urlPattern) bool { return p.is(text) })
	})
}

// inCommands: one command may be meant. What can't be read may be anything, so a rule
// that asks is taken to be meant.
func (r rule) inCommands(c call) bool {
	for _, cmd := range c.script.Commands {
		for _, p := range r.commands {
			if found := p.In(cmd); found == shell.Yes || found == shell.Maybe {
				return true
			}
		}
	}
	return r.Decision == decision.Ask && (len(c.script.Doubts) > 0 || slices.ContainsFunc(c.script.Commands, func(cmd shell.Command) bool { return len(cmd.Doubts) > 0 }))
}

// result is what the rule decides.
func (r rule) result(tool events.Tool) chain.Result {
	reason := r.Reason
	if reason == "" {
		reason = fmt.Sprintf("%s of the approval policy says %s for %s", r.name, r.Decision, decision.Clip(tool.Name, 100))
		if r.name == "no rule" {
			reason = fmt.Sprintf("no rule of the approval policy is about this call of %s", decision.Clip(tool.Name, 100))
		}
	}
	switch r.Decision {
	case decision.Deny:
		return chain.Denial(reason)
	case decision.Ask:
		result := chain.Question(prompt(tool, reason), r.Choices...)
		result.Reason = reason
		if r.Timeout > 0 {
			result.ApprovalTimeout = &r.Timeout
		}
		return result
	case decision.Allow:
	}
	return chain.Result{}
}

// prompt is the question, with the call's secrets masked.
func prompt(tool events.Tool, reason string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Allow %s?\n", decision.Clip(tool.Name, 100))
	for _, part := range [...]struct {
		name  string
		texts []string
	}{{"command", []string{tool.Command}}, {"path", tool.Paths}, {"address", tool.URLs}} {
		for i, text := range part.texts {
			if i == 10 {
				fmt.Fprintf(&b, "and %d more\n", len(part.texts)-i)
				break
			}
			if shown, _ := redact.Text(text); text != "" {
				fmt.Fprintf(&b, "%s: %s\n", part.name, decision.Clip(shown, 500))
			}
		}
	}
	return b.String() + "\nAsked because: " + decision.Clip(reason, 1000)
}
