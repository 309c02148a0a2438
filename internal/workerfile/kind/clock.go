package kind

import (
	"context"
	"time"
)

// timeKey is the context key of the time.
type timeKey struct{}

// WithTime returns a context for calls that use t as the current time, as in tests of policies and
// replays of recorded events.
func WithTime(ctx context.Context, t time.Time) context.Context {
	return context.WithValue(ctx, timeKey{}, t)
}

// Now returns the time for a call: that of [WithTime], or else the current time. A hook whose
// answer depends on the time calls Now, so that it can be tested.
func Now(ctx context.Context) time.Time {
	if t, given := GivenTime(ctx); given {
		return t
	}
	return time.Now()
}

// GivenTime returns the time of [WithTime], if there is one.
func GivenTime(ctx context.Context) (t time.Time, given bool) {
	t, given = ctx.Value(timeKey{}).(time.Time)
	return t, given
}
