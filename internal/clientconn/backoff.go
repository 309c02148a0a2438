package clientconn

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// The pause between attempts doubles from the shortest to the longest.
const (
	ShortestPause = 50 * time.Millisecond
	LongestPause  = time.Second
)

// ErrTooLate means that the next attempt would start after Backoff.Until.
var ErrTooLate = errors.New("no time left for another try")

// Backoff delays the retries of one request. The zero Backoff has no time limit.
type Backoff struct {
	Until time.Time // no attempt starts later; zero means no limit but the context
	pause time.Duration
}

// Wait waits before the next attempt. It returns [ErrTooLate], or the cause of ctx if ctx ends.
func (b *Backoff) Wait(ctx context.Context) error {
	b.pause = min(max(2*b.pause, ShortestPause), LongestPause)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !b.Until.IsZero() && time.Now().Add(b.pause).After(b.Until) {
		return ErrTooLate
	}
	timer := time.NewTimer(b.pause/2 + rand.N(b.pause/2)) //nolint:gosec // jitter, no secret
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Reset resets the pause to the shortest one.
func (b *Backoff) Reset() { b.pause = 0 }
