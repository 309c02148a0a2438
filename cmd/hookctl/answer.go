package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// showAnswer writes the answer to an event and settles the exit code.
func (e *env) showAnswer(event string, a agent.Answer, diff []change) {
	switch a.Action {
	case chain.Deny:
		e.exit = exitDenied
	case chain.AskUser:
		e.exit = exitAsk
	case chain.Continue, chain.Modify, chain.InjectContext:
	}
	if !e.out.json {
		e.out.table(answerRows(a, diff))
		return
	}
	e.out.document(emitted{event, a.EventID, a.ChainID, a.Hooks, a.DeniedBy, a.FailedOpen, diff, a.Result})
	switch a.Action { // for a shell hook, whose standard error is what the agent reads
	case chain.Deny:
		fmt.Fprintf(e.stderr, "denied by %s: %s\n", a.DeniedBy, clean(a.Reason))
	case chain.AskUser:
		fmt.Fprintf(e.stderr, "a person must be asked: %s\n", clean(prompt(a.Result)))
	case chain.Continue, chain.Modify, chain.InjectContext:
	}
}

// maxValue is how many characters of a value people are shown.
const maxValue = 100

// answerRows is the answer for people.
func answerRows(a agent.Answer, diff []change) [][]cell {
	action := a.Action
	if action == "" {
		action = chain.Continue
	}
	rows := [][]cell{{{string(action), actionColor(action)}, {a.Reason, bold}}}
	add := func(head, text string) { rows = append(rows, []cell{{head, dim}, {text, plain}}) }
	if a.DeniedBy != "" {
		add("denied by", a.DeniedBy)
	}
	for _, c := range diff {
		add("changed", c.describe())
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
		rows = append(rows, []cell{{"failed", yellow}, {strings.Join(a.FailedOpen, ", ") + " (let pass)", plain}})
	}
	add("hooks", strconv.Itoa(a.Hooks)+" called")
	add("event", a.EventID)
	add("chain", a.ChainID)
	return rows
}

func (c change) describe() string {
	old, value := clip(string(c.Old), maxValue), clip(string(c.Value), maxValue)
	switch c.Op {
	case "add":
		return c.name() + " added: " + value
	case "remove":
		return c.name() + " removed: " + old
	}
	return c.name() + ": " + old + " → " + value
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

func actionColor(action chain.Action) string {
	switch action {
	case chain.Deny:
		return red
	case chain.AskUser, chain.Modify:
		return yellow
	case chain.InjectContext:
		return cyan
	}
	return green
}
