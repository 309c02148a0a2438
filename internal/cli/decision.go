package cli

import (
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// ActionColor returns the color of a decision.
func ActionColor(action chain.Action) term.Color {
	switch action {
	case chain.Deny:
		return term.Red
	case chain.AskUser, chain.Modify:
		return term.Yellow
	case chain.InjectContext:
		return term.Cyan
	}
	return term.Green
}

// OnFailure formats a failure policy for a table.
func OnFailure(p chain.Policy) term.Cell {
	if p == chain.FailClosed {
		return term.Red.Cell(string(p))
	}
	return term.Plain.Cell(string(p))
}
