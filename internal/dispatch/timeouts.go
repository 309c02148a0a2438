package dispatch

import (
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Explained describes the chain that an event would pass.
type Explained struct {
	Hooks []chain.Explanation `json:"hooks"`
	// ChainTimeoutMS bounds the whole chain. WorstMS is how much of it the hooks may take at most.
	// Both are in milliseconds.
	ChainTimeoutMS int64 `json:"chain_timeout_ms"`
	WorstMS        int64 `json:"worst_ms"`
	// Warnings name time-outs in the wrong order: a hook needs a shorter one than its chain, or
	// its on_failure never applies. Nil for none.
	Warnings []string `json:"warnings,omitempty"`
}

// timeouts compares the hooks' time-outs with that of the chain.
func (x *Explained) timeouts(whole time.Duration) {
	var sum, longest time.Duration // longest of the current group
	open := 0
	for _, h := range x.Hooks {
		if h.Mode != chain.Enforce || !h.Matches && h.MatchError == "" {
			continue
		}
		own := time.Duration(h.TimeoutMS) * time.Millisecond
		if own >= whole {
			x.Warnings = append(x.Warnings, fmt.Sprintf("hook %s may take %s, and the chain ends after %s: its on_failure is never reached, the event is refused with 504", h.ID, own, whole))
		}
		if h.Group == 0 || h.Group != open {
			sum, longest, open = sum+longest, 0, h.Group
		}
		longest = max(longest, own)
	}
	sum += longest
	if sum > whole && len(x.Warnings) == 0 {
		x.Warnings = append(x.Warnings, fmt.Sprintf("the hooks may take %s together, and the chain ends after %s: if several are slow, the event is refused with 504", sum, whole))
	}
	x.ChainTimeoutMS, x.WorstMS = whole.Milliseconds(), min(sum, whole).Milliseconds()
}
