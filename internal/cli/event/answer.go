package event

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/jsondiff"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// showAnswer writes the answer to an event and settles the exit code.
func showAnswer(e *cli.Env, event string, a agent.Answer, diff []jsondiff.Change) {
	switch a.Action {
	case chain.Deny:
		e.Exit = cli.ExitDenied
	case chain.AskUser:
		e.Exit = cli.ExitAsk
	case chain.Continue, chain.Modify, chain.InjectContext:
	}
	if !e.Out.JSON {
		e.Out.Table(answerRows(a, diff))
		return
	}
	e.Out.Document(emitted{event, a.EventID, a.ChainID, a.Hooks, a.DeniedBy, a.FailedOpen, diff, a.Result})
	switch a.Action { // for a shell hook, whose standard error is what the agent reads
	case chain.Deny:
		fmt.Fprintf(e.Stderr, "denied by %s: %s\n", a.DeniedBy, term.Clean(a.Reason))
	case chain.AskUser:
		fmt.Fprintf(e.Stderr, "a person must be asked: %s\n", term.Clean(prompt(a.Result)))
	case chain.Continue, chain.Modify, chain.InjectContext:
	}
}

// answerRows is the answer for people.
func answerRows(a agent.Answer, diff []jsondiff.Change) [][]term.Cell {
	action := a.Action
	if action == "" {
		action = chain.Continue
	}
	rows := [][]term.Cell{{cli.ActionColor(action).Cell(string(action)), term.Bold.Cell(a.Reason)}}
	add := func(head, text string) { rows = append(rows, []term.Cell{term.Dim.Cell(head), term.Plain.Cell(text)}) }
	if a.DeniedBy != "" {
		add("denied by", a.DeniedBy)
	}
	for _, c := range diff {
		add("changed", c.Describe())
	}
	if a.ContextInjection != "" {
		add("injects", injection(a.Result))
	}
	if action == chain.AskUser {
		add("asks", question(a.Result))
	}
	if a.UserMessage != "" {
		level := a.UserMessageLevel
		if level == "" {
			level = chain.LevelInfo
		}
		add("message", string(level)+": "+a.UserMessage)
	}
	if len(a.FailedOpen) > 0 {
		rows = append(rows, []term.Cell{term.Yellow.Cell("failed"), term.Plain.Cell(strings.Join(a.FailedOpen, ", ") + " (let pass)")})
	}
	add("hooks", strconv.Itoa(a.Hooks)+" called")
	add("event", a.EventID)
	add("chain", a.ChainID)
	return rows
}

func injection(r chain.Result) string {
	role := r.ContextInjectionRole
	if role == "" {
		role = chain.RoleSystem
	}
	text := string(role) + ": " + r.ContextInjection
	switch {
	case r.Ephemeral && r.AppendToLastToolResult:
		return text + " (ephemeral, at the last tool result)"
	case r.Ephemeral:
		return text + " (ephemeral)"
	}
	return text
}

func prompt(r chain.Result) string {
	if r.ApprovalPrompt == "" {
		return "Allow this operation?"
	}
	return r.ApprovalPrompt
}

func question(r chain.Result) string {
	options, wait, otherwise := r.ApprovalOptions, chain.DefaultApprovalTimeout, r.ApprovalDefault
	if options == nil {
		options = []string{"Allow", "Deny"}
	}
	if r.ApprovalTimeout != nil {
		wait = *r.ApprovalTimeout
	}
	if otherwise == "" {
		otherwise = chain.Deny
	}
	return fmt.Sprintf("%s [%s], after %gs: %s", prompt(r), strings.Join(options, " | "), wait, otherwise)
}
