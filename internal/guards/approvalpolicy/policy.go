package approvalpolicy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/guards/paths"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
	"github.com/hookrouter/hookrouter/internal/policy/redact"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Builtin is the builtin approval-policy.
var Builtin = builtin.Of("Allows, denies or asks about tool calls by an ordered list of rules.",
	chain.Registration{Events: []string{events.ToolPre}, Priority: 10, OnFailure: chain.FailClosed, Effect: chain.Validates, ReplaySafe: true}, New)

// New creates the hook.
func New(_ kind.Section, o Options) (kind.Hook, error) {
	rules, err := compile(o)
	if err != nil {
		return kind.Hook{}, err
	}
	return decision.Handler(func(_ events.Event, tool events.Tool) chain.Result { return decide(rules, callOf(tool)) }), nil
}

// decide returns the result of the first rule that matches. If an earlier rule is undecided, a
// person is asked, unless the call is denied anyway. The last rule matches every call.
func decide(rules []rule, c call) chain.Result {
	var open []rule
	for _, r := range rules {
		switch r.matches(c) {
		case shell.No:
		case shell.Maybe:
			open = append(open, r)
		case shell.Yes:
			if len(open) > 0 && r.Decision != decision.Deny {
				return open[0].undecided().result(c.tool)
			}
			return r.result(c.tool)
		}
	}
	return chain.Result{}
}

// call is a tool call, parsed for the rules.
type call struct {
	tool   events.Tool
	script shell.Script
	paths  []paths.Path
}

func callOf(tool events.Tool) call {
	c := call{tool: tool, script: shell.Parse(tool.Command, tool.Cwd)}
	for _, path := range tool.Paths {
		c.paths = append(c.paths, paths.Resolve(path, tool.Cwd))
	}
	return c
}

// matches reports whether the rule applies to a call. A rule that allows must account for the whole
// call. For a rule that denies or asks, a part is enough, and it may apply to what can't be read.
func (r rule) matches(c call) shell.Found {
	limited, all := len(r.commands)+len(r.paths)+len(r.urls) > 0, shell.Yes
	if len(r.Tools) > 0 && !slices.ContainsFunc(r.Tools, func(t string) bool { return r.isTool(t, c.tool) }) {
		if r.Decision == decision.Allow || !c.tool.Unread() {
			return shell.No
		}
		all = shell.Maybe // an unreadable tool may be one of them
	}
	if !limited {
		return all
	}
	if r.Decision == decision.Allow {
		return shell.FoundIf(!c.tool.Partial && r.coversCommands(c) && r.coversPaths(c) && r.coversURLs(c))
	}
	if len(r.commands) > 0 {
		all = min(all, r.inCommands(c))
	}
	if len(r.paths) > 0 {
		all = min(all, max(r.inPaths(c), unread(c, events.ClassFile)))
	}
	if len(r.urls) > 0 {
		all = min(all, max(r.inURLs(c), unread(c, events.ClassWeb)))
	}
	return all
}

// unread returns Maybe if a tool of the class has input that can't be read, or if the tool itself
// is unknown.
func unread(c call, class events.ToolClass) shell.Found {
	if c.tool.Unread() || c.tool.Partial && c.tool.Class == class {
		return shell.Maybe
	}
	return shell.No
}

func (r rule) inPaths(c call) shell.Found {
	return shell.FoundIf(slices.ContainsFunc(r.paths, func(p paths.Pattern) bool {
		return slices.ContainsFunc(c.paths, func(path paths.Path) bool { return path.MayBe(p) || path.Unclear })
	}))
}

func (r rule) inURLs(c call) shell.Found {
	return shell.FoundIf(slices.ContainsFunc(r.urls, func(p urlPattern) bool { return slices.ContainsFunc(c.tool.URLs, p.mayBe) }))
}

// isTool reports whether a name or class of the rule matches a tool. A class that was only guessed
// allows nothing.
func (r rule) isTool(name string, tool events.Tool) bool {
	if slices.Contains(events.ToolClasses(), events.ToolClass(name)) {
		return string(tool.Class) == name && (tool.Known || r.Decision != decision.Allow)
	}
	if r.Decision == decision.Allow {
		return approval.Glob(name, tool.Name)
	}
	return approval.Glob(strings.ToLower(name), strings.ToLower(tool.Name))
}

// coversCommands reports whether the rule accounts for all commands. A rule without commands allows
// none.
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

// inCommands reports whether the rule applies to one of the commands. A command that can't be read
// may be one.
func (r rule) inCommands(c call) shell.Found {
	doubts := len(c.script.Doubts) > 0
	for _, cmd := range c.script.Commands {
		if slices.ContainsFunc(r.commands, func(p shell.Pattern) bool { return p.In(cmd) != shell.No }) {
			return shell.Yes
		}
		doubts = doubts || len(cmd.Doubts) > 0
	}
	if doubts {
		return shell.Maybe
	}
	return unread(c, events.ClassShell)
}

// undecided returns the rule to use if it is unknown whether it matches: one that asks.
func (r rule) undecided() rule {
	if r.Decision == decision.Deny {
		reason := r.name + " of the approval policy denies"
		if r.Reason != "" {
			reason += " (" + r.Reason + ")"
		}
		r.Decision, r.Reason = decision.Ask, "cannot decide whether this is what "+reason
	}
	return r
}

// result returns the decision of the rule.
func (r rule) result(tool events.Tool) chain.Result {
	reason := r.Reason
	if reason == "" {
		reason = fmt.Sprintf("%s of the approval policy says %s for %s", r.name, r.Decision, decision.Tool(tool.Name))
		if r.name == "no rule" {
			reason = fmt.Sprintf("no rule of the approval policy is about this call of %s", decision.Tool(tool.Name))
		}
	}
	switch r.Decision {
	case decision.Deny:
		return chain.Result{Action: chain.Deny, Reason: reason, Rule: r.at}
	case decision.Ask:
		result := chain.Result{Action: chain.AskUser, ApprovalPrompt: prompt(tool, reason), ApprovalOptions: r.Choices, Reason: reason, Rule: r.at}
		if r.Timeout > 0 {
			result.ApprovalTimeout = &r.Timeout
		}
		return result
	case decision.Allow:
	}
	return chain.Result{}
}

// prompt returns the question for a person, with the call's secrets masked.
func prompt(tool events.Tool, reason string) string {
	var b strings.Builder
	line, whole := decision.Question(tool)
	b.WriteString(line + "\n")
	if !whole {
		list(&b, tool)
	}
	return b.String() + "\nAsked because: " + decision.Clip(reason, 1000)
}

// list writes everything that a call is about.
func list(b *strings.Builder, tool events.Tool) {
	for _, part := range [...]struct {
		name  string
		texts []string
	}{{"command", []string{tool.Command}}, {"path", tool.Paths}, {"address", tool.URLs}} {
		for i, text := range part.texts {
			if i == 10 {
				fmt.Fprintf(b, "and %d more\n", len(part.texts)-i)
				break
			}
			if shown, _ := redact.Text(text); text != "" {
				fmt.Fprintf(b, "%s: %s\n", part.name, decision.Excerpt(shown, 500))
			}
		}
	}
}
