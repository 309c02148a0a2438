package testkit

import (
	"context"
	"testing"
	"time"
)

// Patience is how long [Eventually] and [Receive] wait before they fail a test. It is far longer
// than anything takes, even on a busy machine.
const Patience = 90 * time.Second

// Within returns a context that ends after d. Unlike the test's own context, it is still valid in
// cleanups.
func Within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// Eventually waits until a condition is true, and fails the test if that takes longer than
// [Patience].
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	Until(t, ctx, what, holds)
}

// Until waits until a condition is true, and fails the test if ctx ends first.
func Until(t testing.TB, ctx context.Context, what string, holds func() bool) {
	t.Helper()
	if !Soon(ctx, holds) {
		t.Fatalf("timed out waiting until %s", what)
	}
}

// Soon reports whether a condition becomes true before ctx ends. It checks immediately, and then in
// intervals that grow to 20 ms.
func Soon(ctx context.Context, holds func() bool) bool {
	const longest = 20 * time.Millisecond
	pause := time.Millisecond
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for !holds() {
		select {
		case <-timer.C:
			pause = min(2*pause, longest)
			timer.Reset(pause)
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// Receive returns the next value of a channel. It fails the test if none arrives within [Patience],
// or if the channel is closed.
func Receive[T any](t testing.TB, what string, from <-chan T) T {
	t.Helper()
	timer := time.NewTimer(Patience)
	defer timer.Stop()
	select {
	case v, ok := <-from:
		if !ok {
			t.Fatalf("the channel is closed, want %s", what)
		}
		return v
	case <-timer.C:
		t.Fatalf("timed out waiting for %s", what)
	}
	panic("unreachable")
}

// Closed waits until a channel is closed, and fails the test if that takes longer than [Patience].
func Closed[T any](t testing.TB, what string, done <-chan T) {
	t.Helper()
	timer := time.NewTimer(Patience)
	defer timer.Stop()
	for {
		select {
		case _, open := <-done:
			if !open {
				return
			}
		case <-timer.C:
			t.Fatalf("timed out waiting for %s", what)
		}
	}
}
