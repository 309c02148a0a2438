package clientconn

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// The pause between two tries doubles from the one to the other.
const (
	ShortestPause = 50 * time.Millisecond
	LongestPause  = time.Second
)

// ErrTooLate means that the next try would begin after Backoff.Until.
var ErrTooLate = errors.New("no time left for another try")

// Backoff spaces the tries of one request. The zero Backoff has no end.
type Backoff struct {
	Until time.Time // no try begins later; zero means as long as the context lasts
	pause time.Duration
}

// Wait waits before the next try. The error is [ErrTooLate], or the cause of the end
// of ctx.
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

// Reset makes the next pause the shortest one.
func (b *Backoff) Reset() { b.pause = 0 }
