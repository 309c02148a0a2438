package dispatch

import (
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// addressed is a denial as the agent gets it: with the address of the page that tells why,
// where the operator has given one. Records and watchers have the reason alone.
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

// ofResult is a result as the agent gets it.
func (d *Dispatcher) ofResult(r chain.Result, chainID string) chain.Result {
	if r.Action == chain.Deny {
		r.Reason = d.addressed(r.Reason, chainID)
	}
	return r
}

// ofVerdict is a verdict as the agent gets it.
func (d *Dispatcher) ofVerdict(v verdict.Verdict, chainID string) verdict.Verdict {
	if v.Action == verdict.Deny {
		v.Reason = d.addressed(v.Reason, chainID)
	}
	return v
}
