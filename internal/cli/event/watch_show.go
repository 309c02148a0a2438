package event

import (
	"fmt"
	"strings"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// showSight prints one line of watch. Only JSON output shows secrets.
func showSight(p *term.Printer, s *sight) {
	if p.Line(s) {
		return
	}
	what, rest := p.Paint(term.Cyan, "event "), term.Clean(term.Clip(string(cli.MaskedJSON("", s.Data)), 2*term.MaxValue))
	switch s.Kind {
	case "result":
		what, rest = p.Paint(term.Bold, "result"), resultText(p, s.result)
	case "unreadable":
		what, rest = p.Paint(term.Red, "broken"), term.Clean(s.Error)
	}
	p.Fold(fmt.Sprintf("%s %s  %-16s %-10s %s", p.Clock(), what, term.Clean(s.Event), term.Word(s.Session), rest))
}

func resultText(p *term.Printer, r resultBody) string {
	text := p.Paint(cli.ActionColor(chain.Action(r.Action)), term.Clean(r.Action))
	if r.DeniedBy != "" {
		text += " by " + term.Clean(r.DeniedBy)
	}
	if r.Reason != "" {
		text += ": " + term.Clean(cli.Masked(r.Reason))
	}
	if r.ApprovalID != "" {
		text += ", approval " + term.Clean(r.ApprovalID)
	}
	calls := make([]string, len(r.Hooks))
	for i, call := range r.Hooks {
		did := call.Action
		if call.Failure != "" {
			did = call.Failure
		}
		if call.FailedOpen {
			did += ", let pass"
		}
		calls[i] = fmt.Sprintf("%s %s %s", term.Clean(call.ID), term.Clean(did), term.Micros(call.Micros))
	}
	if len(calls) == 0 {
		return text + p.Paint(term.Dim, "  no hook")
	}
	return text + p.Paint(term.Dim, "  ["+strings.Join(calls, "; ")+"]")
}
