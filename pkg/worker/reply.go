package worker

import (
	"fmt"

	"github.com/hookrouter/hookrouter/internal/clientconn"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

const (
	maxReply     = 512 << 10 // bytes, a router's default limit
	maxShortText = 4 << 10   // bytes of each text of a reply that was too large
)

// encode returns the reply for a result. A router treats a reply that is too large as a failure, and
// an agent whose text the reply quotes could cause that, to escape a hook that fails open. So a
// denial that is too large is shortened, and a question, or a result with labels, becomes a denial:
// otherwise nobody would be asked, or the session would lack the labels.
func encode(r Result) []byte {
	reply := r.Append(nil)
	if len(reply) <= maxReply || r.Action != chain.Deny && r.Action != chain.AskUser && len(r.Labels) == 0 {
		return reply
	}
	short := chain.Denial(clientconn.Shorten(r.Reason, maxShortText))
	if r.Action != chain.Deny {
		short.Reason = fmt.Sprintf("The hook's answer has %d bytes: at most %d are allowed", len(reply), maxReply)
	}
	short.UserMessage, short.UserMessageLevel = clientconn.Shorten(r.UserMessage, maxShortText), r.UserMessageLevel
	if events.CheckLabels(r.Labels) == nil {
		short.Labels = r.Labels
	}
	return short.Append(nil)
}
