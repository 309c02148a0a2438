package event

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/jsonedit"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// showAnswer prints the answer to an event, with the labels that hooks gave, and sets the exit
// code.
func showAnswer(e *cli.Env, event string, a agent.Answer, diff []jsonedit.Change, labels string) {
	switch a.Action {
	case chain.Deny:
		e.Exit = cli.ExitDenied
	case chain.AskUser:
		e.Exit = cli.ExitAsk
	case chain.Continue, chain.Modify, chain.InjectContext:
	}
	if !e.Out.Document(emitted{event, a.EventID, a.ChainID, a.Hooks, a.DeniedBy, a.FailedOpen, diff, a.Result}) {
		e.Out.Table(answerRows(a, diff, labels))
		return
	}
	switch a.Action { // for shell hooks: the agent reads their standard error
	case chain.Deny:
		term.Say(e.Stderr, term.Clean("denied by "+a.DeniedBy+": "+cli.Masked(a.Reason)))
	case chain.AskUser:
		term.Say(e.Stderr, term.Clean("a person must be asked: "+prompted(prompt(a.Result))))
	case chain.Continue, chain.Modify, chain.InjectContext:
	}
}

// answerRows formats an answer as rows.
func answerRows(a agent.Answer, diff []jsonedit.Change, labels string) [][]term.Cell {
	action := cmp.Or(a.Action, chain.Continue)
	rows := term.Facts{{cli.ActionColor(action).Cell(string(action)), term.Bold.Cell(cli.Masked(a.Reason))}}
	rows.Add("denied by", a.DeniedBy, term.Plain)
	addChanges(&rows, diff)
	if a.ContextInjection != "" {
		role := cmp.Or(a.ContextInjectionRole, chain.RoleSystem)
		rows.Add("injects", string(role)+": "+cli.Masked(a.ContextInjection)+placing(a.Ephemeral, a.AppendToLastToolResult), term.Plain)
	}
	if action == chain.AskUser {
		rows.Add("asks", approvalText(a.Result), term.Plain)
	}
	if a.UserMessage != "" {
		rows.Add("message", string(cmp.Or(a.UserMessageLevel, chain.LevelInfo))+": "+cli.Masked(a.UserMessage), term.Plain)
	}
	rows.Add("labels", labels, term.Yellow)
	addChain(&rows, a.FailedOpen, a.Hooks, a.EventID, a.ChainID)
	return rows
}

func addChanges(rows *term.Facts, diff []jsonedit.Change) {
	for _, c := range diff {
		name := c.Path[strings.LastIndexByte(c.Path, '/')+1:]
		c.Old, c.Value = cli.MaskedJSON(name, c.Old), cli.MaskedJSON(name, c.Value)
		rows.Add("changed", term.Printable(c.Describe()), term.Plain)
	}
}

// addChain adds the event and the chain, if they are known, and the hooks that failed open.
func addChain(rows *term.Facts, failedOpen []string, hooks int, event, chain string) {
	if len(failedOpen) > 0 {
		*rows = append(*rows, term.Row(term.Yellow.Cell("failed"), strings.Join(failedOpen, ", ")+" (let pass)"))
	}
	if event != "" {
		rows.Add("hooks", strconv.Itoa(hooks)+" called", term.Plain)
	}
	rows.Add("event", term.Printable(event), term.Plain)
	rows.Add("chain", term.Printable(chain), term.Plain)
}

// placing describes where an ephemeral injection goes.
func placing(ephemeral, atToolResult bool) string {
	switch {
	case ephemeral && atToolResult:
		return " (ephemeral, at the last tool result)"
	case ephemeral:
		return " (ephemeral)"
	}
	return ""
}

func prompt(r chain.Result) string { return cmp.Or(r.ApprovalPrompt, approval.DefaultPrompt) }

func approvalText(r chain.Result) string {
	options, wait := r.ApprovalOptions, chain.DefaultApprovalTimeout
	if options == nil {
		options = approval.DefaultOptions()
	}
	if r.ApprovalTimeout != nil {
		wait = *r.ApprovalTimeout
	}
	return fmt.Sprintf("%s [%s], after %gs: %s", prompted(prompt(r)), strings.Join(options, " | "), wait, cmp.Or(r.ApprovalDefault, chain.Deny))
}
