package registry

import (
	"context"
	"log/slog"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// gaps tracks whether a follower may have missed a record.
//
// The bucket keeps one record per key. A follower that lags never receives a record that was
// replaced meanwhile, only the one that replaced it, which may still be on its way. The server's
// count of pending records does not rule that out: it drops for the old record before it rises for
// the new one. So after a skipped revision the follower asks for the newest revision of the bucket.
// Once it has received that, it has missed none.
type gaps struct {
	bucket  *natsx.Bucket
	timeout time.Duration // of the request for the newest revision
	log     *slog.Logger

	last    uint64 // the last received revision
	skipped bool   // a revision was skipped since newest was read
	newest  uint64 // the revision to wait for
}

// received notes a revision.
func (g *gaps) received(revision uint64) {
	g.skipped = g.skipped || revision != g.last+1
	g.last = max(g.last, revision)
}

// closed reports whether no earlier record is missing. It asks the server only after a skipped
// revision. If the server does not answer, the next batch asks again.
func (g *gaps) closed(ctx context.Context) bool {
	if g.skipped {
		ctx, cancel := context.WithTimeout(ctx, g.timeout)
		defer cancel()
		newest, err := g.bucket.Last(ctx)
		if err != nil {
			g.log.Debug("newest registry revision unknown; asking again", "error", err)
			return false
		}
		g.skipped, g.newest = false, newest
	}
	return g.last >= g.newest
}
