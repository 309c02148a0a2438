package crash

import (
	"cmp"
	"context"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"
)

// TestMain runs the tests, or the NATS server that they start as a process.
func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) != "" {
		os.Exit(natsRole())
	}
	goleak.VerifyTestMain(m)
}

// volume is how often a long test does its thing: whole in CI, a tenth else.
func volume(t *testing.T, whole int) int {
	n := whole
	if os.Getenv("HOOKROUTER_FULL") == "" {
		n = max(whole/10, 1)
	}
	t.Logf("volume: %d of %d", n, whole)
	return n
}

// random is the source of what is random in a test.
func random(t *testing.T) *rand.Rand {
	t.Helper()
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("HOOKROUTER_SEED"), "1"), 10, 64)
	if err != nil {
		t.Fatalf("HOOKROUTER_SEED: %v", err)
	}
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 4)) //nolint:gosec // a test that can be repeated
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// eventually waits until a condition holds.
func eventually(t *testing.T, ctx context.Context, what string, holds func() bool) {
	t.Helper()
	if !soon(ctx, holds) {
		t.Fatalf("in time it did not come true: %s", what)
	}
}

// soon reports whether a condition comes true before ctx ends.
func soon(ctx context.Context, holds func() bool) bool {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// pass waits until a moment that a test has drawn.
func pass(d time.Duration) { <-time.After(d) }

// dial connects, and goes on connecting.
func dial(t *testing.T, url string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(url, nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true), nats.ReconnectWait(20*time.Millisecond),
		nats.ReconnectJitter(0, 0), nats.ReconnectBufSize(-1), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// code is the refusal code of a reply, "" for none.
func code(m *nats.Msg) string { return m.Header.Get("Nats-Service-Error-Code") }
