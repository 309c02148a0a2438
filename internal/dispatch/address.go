package dispatch

import (
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// addressed appends to a denial the address of the console page that explains it, if the
// operator configured one. Records and watchers get the reason without it.
func (d *Dispatcher) addressed(reason, chainID string) string {
	if d.opts.ConsoleURL == "" || chainID == "" {
		return reason
	}
	address := "Why: " + d.opts.ConsoleURL + "/why/" + chainID
	if reason == "" {
		return address
	}
	return reason + "\n" + address
}

// ofResult returns a result as the agent gets it.
func (d *Dispatcher) ofResult(r chain.Result, chainID string) chain.Result {
	if r.Action == chain.Deny {
		r.Reason = d.addressed(r.Reason, chainID)
	}
	return r
}

// ofVerdict returns a verdict as the agent gets it.
func (d *Dispatcher) ofVerdict(v verdict.Verdict, chainID string) verdict.Verdict {
	if v.Action == verdict.Deny {
		v.Reason = d.addressed(v.Reason, chainID)
	}
	return v
}
