package commandguard

import (
	"cmp"

	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// Options of the builtin. The zero Options deny what is known to do harm and ask
// about what can't be decided.
type Options struct {
	// Deny are patterns of commands that are denied, such as "terraform destroy*".
	Deny []string `json:"deny"`
	// Ask are patterns of commands that a person is asked about.
	Ask []string `json:"ask"`
	// Allow are patterns of commands that pass, whatever is built in. They account for
	// the whole command: a * at the end stands for any more words.
	Allow []string `json:"allow"`
	// Defaults says whether what is built in is judged by too; true where it is not
	// given.
	Defaults *bool `json:"defaults"`
	// Undecidable says what happens to a line that can't be decided: ask, deny or
	// allow; empty means ask.
	Undecidable decision.Decision `json:"undecidable"`
	// Otherwise says what happens to a command that nothing else matches: allow, ask
	// or deny; empty means allow. With ask or deny only known harmless commands pass,
	// and those of Allow.
	Otherwise decision.Decision `json:"otherwise"`
	// Development says that with an Otherwise other than allow the commands of everyday
	// development pass too: programs that are known not to reach beyond the project with
	// what they are told, and those of the project.
	Development bool `json:"development"`
	// Timeout is how long a person is waited for, in seconds; 0 means the router's
	// default.
	Timeout float64 `json:"timeout"`
}

// policy is the compiled form of Options.
type policy struct {
	deny, ask, allow       []shell.Pattern
	defaults, development  bool
	undecidable, otherwise decision.Decision
	timeout                *float64
}

func compile(o Options) (policy, error) {
	p := policy{defaults: o.Defaults == nil || *o.Defaults, development: o.Development}
	var wrong [6]error
	p.deny, wrong[0] = decision.Patterns("/deny", o.Deny, shell.ParsePattern)
	p.ask, wrong[1] = decision.Patterns("/ask", o.Ask, shell.ParsePattern)
	p.allow, wrong[2] = decision.Patterns("/allow", o.Allow, shell.ParsePattern)
	p.undecidable, wrong[3] = o.Undecidable.Or(decision.Ask, "/undecidable")
	p.otherwise, wrong[4] = o.Otherwise.Or(decision.Allow, "/otherwise")
	p.timeout, wrong[5] = decision.Timeout(o.Timeout)
	return p, cmp.Or(wrong[:]...)
}
