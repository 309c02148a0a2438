package pathguard

import (
	"cmp"

	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/guards/paths"
)

// Options of the builtin. The zero Options protect what is built in.
type Options struct {
	// Deny are patterns of paths that are neither read nor written.
	Deny []string `json:"deny"`
	// DenyWrite are patterns of paths that may be read, but not changed.
	DenyWrite []string `json:"deny_write"`
	// Allow are patterns of paths that pass, whatever is built in.
	Allow []string `json:"allow"`
	// Only are the patterns outside of which nothing is read or written; empty means
	// anywhere.
	Only []string `json:"only"`
	// OnlyWrite are the patterns outside of which nothing is written; empty means
	// anywhere.
	OnlyWrite []string `json:"only_write"`
	// Outside says what happens to what is written outside of the directory where the agent
	// works, as the event has it, and of /tmp: ask, deny or allow; empty means allow.
	Outside decision.Decision `json:"outside"`
	// Defaults says whether what is built in is protected too; true where it is not
	// given.
	Defaults *bool `json:"defaults"`
	// Unclear says what happens where a path can't be known: ask, deny or allow; empty
	// means ask.
	Unclear decision.Decision `json:"unclear"`
	// Timeout is how long a person is waited for, in seconds; 0 means the router's
	// default.
	Timeout float64 `json:"timeout"`
}

// policy is the compiled form of Options.
type policy struct {
	deny, denyWrite, allow, only, onlyWrite []paths.Pattern
	secrets, settings                       []paths.Pattern // the built-in patterns
	unclear, outside                        decision.Decision
	root                                    paths.Path // the agent's directory; set for each event
	timeout                                 *float64
}

func compile(o Options) (p policy, _ error) {
	var wrong [8]error
	p.deny, wrong[0] = decision.Patterns("/deny", o.Deny, paths.Parse)
	p.denyWrite, wrong[1] = decision.Patterns("/deny_write", o.DenyWrite, paths.Parse)
	p.allow, wrong[2] = decision.Patterns("/allow", o.Allow, paths.Parse)
	p.only, wrong[3] = decision.Patterns("/only", o.Only, paths.Parse)
	p.onlyWrite, wrong[4] = decision.Patterns("/only_write", o.OnlyWrite, paths.Parse)
	p.unclear, wrong[5] = o.Unclear.Or(decision.Ask, "/unclear")
	p.outside, wrong[6] = o.Outside.Or(decision.Allow, "/outside")
	p.timeout, wrong[7] = decision.Timeout(o.Timeout)
	if o.Defaults == nil || *o.Defaults {
		p.secrets, p.settings = builtIn()
	}
	return p, cmp.Or(wrong[:]...)
}
