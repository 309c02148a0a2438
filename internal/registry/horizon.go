package registry

import (
	"context"
	"log/slog"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// horizon tells whether a follower has every record that it must have.
//
// The bucket keeps one record per key. A follower that lags never receives a record that was
// replaced meanwhile, only the one that replaced it, which may still be on its way. The server's
// count of pending records does not rule that out: it drops for the old record before it rises
// for the new one. So after a skipped revision the follower must reach the revision that was the
// bucket's newest when it asked.
type horizon struct {
	bucket  *natsx.Bucket
	timeout time.Duration // of the question
	log     *slog.Logger

	upTo    uint64 // the last revision that was received
	skipped bool   // a revision was skipped since newest was read
	newest  uint64 // the revision to reach
}

// saw notes a received revision.
func (h *horizon) saw(revision uint64) {
	h.skipped = h.skipped || revision != h.upTo+1
	h.upTo = max(h.upTo, revision)
}

// reached reports whether no earlier record is missing. It asks the server only after a skipped
// revision. If the server does not answer, the next batch asks again.
func (h *horizon) reached(ctx context.Context) bool {
	if h.skipped {
		ctx, cancel := context.WithTimeout(ctx, h.timeout)
		defer cancel()
		newest, err := h.bucket.Last(ctx)
		if err != nil {
			h.log.Debug("newest registration unknown; asking again", "error", err)
			return false
		}
		h.skipped, h.newest = false, newest
	}
	return h.upTo >= h.newest
}
