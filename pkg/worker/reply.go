package worker

import (
	"fmt"
	"strings"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

const (
	maxReply     = 512 << 10 // bytes, a router's default limit
	maxShortText = 4 << 10   // bytes of each text of a reply that was too large
)

// encode returns the reply for a result. A reply that is too large is a failure to a router, and
// its texts may quote an agent, which could so escape a hook that fails open. Therefore a denial
// that is too large is shortened. A question and a result with labels become a denial: nobody could
// be asked, and the session would lack the labels.
func encode(r Result) []byte {
	reply := r.Append(nil)
	if len(reply) <= maxReply || r.Action != chain.Deny && r.Action != chain.AskUser && len(r.Labels) == 0 {
		return reply
	}
	short := chain.Denial(shorten(r.Reason))
	if r.Action != chain.Deny {
		short.Reason = fmt.Sprintf("The hook's answer has %d bytes: at most %d are allowed", len(reply), maxReply)
	}
	short.UserMessage, short.UserMessageLevel = shorten(r.UserMessage), r.UserMessageLevel
	if events.CheckLabels(r.Labels) == nil {
		short.Labels = r.Labels
	}
	return short.Append(nil)
}

func shorten(text string) string {
	if len(text) <= maxShortText {
		return text
	}
	return strings.ToValidUTF8(text[:maxShortText], "") + "...[truncated]"
}
