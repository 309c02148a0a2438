package commandguard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
	"github.com/hookrouter/hookrouter/internal/policy/redact"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Builtin is the builtin command-guard.
var Builtin = builtin.Of("Denies harmful shell commands, and asks about those that can't be decided.",
	chain.Registration{Events: []string{events.ToolPre}, Priority: 5, OnFailure: chain.FailClosed, Effect: chain.Validates, ReplaySafe: true}, New)

// New creates the hook.
func New(_ kind.Section, o Options) (kind.Hook, error) {
	p, err := compile(o)
	if err != nil {
		return kind.Hook{}, err
	}
	return decision.Handler(p.result), nil
}

// result evaluates a tool call.
func (p policy) result(ev events.Event, tool events.Tool) chain.Result {
	worst := p.removal(tool)
	if tool.Class == events.ClassShell || tool.Command != "" || tool.Unread() {
		worst = worst.Graver(p.judge(tool)).Graver(p.inAgentDir(ev, tool))
	}
	switch worst.Decision {
	case decision.Deny:
		return chain.Result{Action: chain.Deny, Reason: "Command denied: " + worst.Reason, Rule: worst.Rule}
	case decision.Ask:
		question := prompt(tool.Command, worst.Reason)
		if tool.Command == "" && !tool.Unread() && tool.Class == events.ClassFile {
			question, _ = decision.Question(tool)
			question += "\n\nAsked because: " + worst.Reason
		}
		return chain.Result{Action: chain.AskUser, ApprovalPrompt: question, ApprovalTimeout: p.timeout, Reason: worst.Reason, Rule: worst.Rule}
	}
	return chain.Result{}
}

// inAgentDir evaluates a line as if it ran in the agent's directory, because a model may name a
// directory that its tool ignores.
func (p policy) inAgentDir(ev events.Event, tool events.Tool) decision.Finding {
	cwd := decision.Root(ev)
	if cwd == "" || cwd == tool.Cwd {
		return decision.Finding{}
	}
	there := tool.Cwd
	tool.Cwd = cwd
	f := p.judge(tool)
	if f.Decision != decision.Deny {
		return decision.Finding{}
	}
	return p.undecided("if its tool ignores the directory " + decision.Clip(there, 80) + ", " + f.Reason)
}

// judge returns the gravest finding about a tool call's command line.
func (p policy) judge(tool events.Tool) decision.Finding {
	worst := decision.Finding{Decision: decision.Allow}
	note := func(f decision.Finding) { worst = worst.Graver(f) }
	script := shell.Parse(tool.Command, tool.Cwd)
	variables := &variableCommands{policy: p, left: maxVariableBytes}
	for _, c := range exported(script.Commands) {
		note(p.command(c))
		note(variables.judge(c, 0))
	}
	if script.Bomb && p.defaults {
		note(decision.Finding{Decision: decision.Deny, Reason: "a function multiplies itself until the machine is full", Rule: decision.BuiltIn("a function that multiplies itself")})
	}
	if p.development && stopsGuards(tool.Command, script.Commands) {
		note(decision.Finding{Decision: decision.Ask, Reason: stopsGuardsReason, Rule: decision.BuiltIn(stopsGuardsReason)})
	}
	for _, d := range p.doubts(tool, script) {
		note(p.undecided(string(d)))
	}
	return worst
}

// doubts returns the doubts about the line as a whole.
func (p policy) doubts(tool events.Tool, script shell.Script) []shell.Doubt {
	doubts := script.Doubts
	if p.development { // it allows the project's programs by their paths, too
		doubts = slices.DeleteFunc(slices.Clone(doubts), func(d shell.Doubt) bool { return d == shell.OwnPath })
	}
	switch name := strings.ToLower(tool.Name); {
	case strings.Contains(name, "powershell") || name == "pwsh" || name == "cmd":
		doubts = append(doubts, "only shells like bash are read here, not "+shell.Doubt(name))
	case tool.Unread():
		doubts = append(doubts, "which tool is called can't be read")
	case tool.Class == events.ClassShell && tool.Command == "" && (tool.Partial || !tool.Known):
		doubts = append(doubts, "the tool's input has no command that can be read")
	case tool.Class == events.ClassShell && tool.Partial:
		doubts = append(doubts, "the call has more than the command: variables, input, or leave to run outside the sandbox")
	}
	return doubts
}

// command evaluates one command.
func (p policy) command(c shell.Command) decision.Finding {
	maybe := ""
	for _, list := range [...]struct {
		decision decision.Decision
		patterns []shell.Pattern
	}{{decision.Deny, p.deny}, {decision.Ask, p.ask}} {
		for i, pattern := range list.patterns {
			switch pattern.In(c) {
			case shell.Yes:
				if r, found := builtIn(c); p.defaults && found == shell.Yes && r.decision == decision.Deny {
					return decision.Finding{Decision: decision.Deny, Reason: r.reason, Rule: decision.BuiltIn(r.reason)} // an approval must not weaken a built-in denial
				}
				return decision.Finding{Decision: list.decision, Reason: fmt.Sprintf("%q is in the %s list of this guard", pattern, list.decision), Rule: decision.Listed(string(list.decision), i, pattern)}
			case shell.Maybe:
				maybe = fmt.Sprintf("it may be %q", pattern)
			case shell.No:
			}
		}
	}
	if maybe == "" && slices.ContainsFunc(p.allow, func(a shell.Pattern) bool { return a.Covers(c) }) {
		return decision.Finding{Decision: decision.Allow}
	}
	if p.defaults {
		switch r, found := builtIn(c); found {
		case shell.Yes:
			return decision.Finding{Decision: r.decision, Reason: r.reason, Rule: decision.BuiltIn(r.reason)}
		case shell.Maybe:
			maybe = "it may be that " + r.reason
		case shell.No:
		}
	}
	switch {
	case len(c.Doubts) > 0:
		return p.undecided(string(c.Doubts[0]))
	case maybe != "":
		return p.undecided(maybe)
	case p.otherwise == decision.Allow || p.development && develops(c):
		return decision.Finding{Decision: decision.Allow}
	case !p.development && (len(c.Words)+len(c.Assigns) == 0 && !c.Writes() || p.defaults && slices.ContainsFunc(harmless(), func(h shell.Pattern) bool { return h.Covers(c) })):
		return decision.Finding{Decision: decision.Allow}
	}
	return decision.Finding{Decision: p.otherwise, Reason: fmt.Sprintf("nothing allows %q", decision.Clip(c.String(), 80)), Rule: decision.Option("otherwise")}
}

// undecided returns the finding for a line that can't be decided.
func (p policy) undecided(why string) decision.Finding {
	return decision.Finding{Decision: p.undecidable, Reason: "cannot decide: " + why, Rule: decision.Option("undecidable")}
}

// maxShown is the maximum length of the command in an approval request, in characters: webhooks
// pass on that much, plus the reason.
const maxShown = 1500

// prompt returns the question for a person, with the command's secrets masked.
func prompt(command, reason string) string {
	shown, _ := redact.Text(command)
	return "Run this command?\n\n" + decision.Excerpt(shown, maxShown) + "\n\nAsked because: " + reason
}
