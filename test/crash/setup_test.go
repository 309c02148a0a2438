package crash

import (
	"cmp"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// TestMain runs the tests, or the NATS server that they start as a process.
func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) != "" {
		os.Exit(natsRole())
	}
	if os.Getenv("HOOKROUTER_TEST_TIER") == "" && os.Getenv("HOOKROUTER_FULL") == "" {
		_ = os.Setenv("GOGC", "400") // of processes that live for seconds: see testkit
	}
	goleak.VerifyTestMain(m)
}

// random is the source of what is random in a test.
func random(t *testing.T) *rand.Rand {
	t.Helper()
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("HOOKROUTER_SEED"), "1"), 10, 64)
	if err != nil {
		t.Fatalf("HOOKROUTER_SEED: %v", err)
	}
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 4))
}

// pass waits until a moment that a test has drawn.
func pass(d time.Duration) { <-time.After(d) }

// dial connects, and goes on connecting.
func dial(t *testing.T, url string) *nats.Conn {
	t.Helper()
	nc := natstest.Dial(t, url, nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true), nats.ReconnectWait(20*time.Millisecond),
		nats.ReconnectJitter(0, 0), nats.ReconnectBufSize(-1), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	return nc
}

// code is the refusal code of a reply, "" for none.
func code(m *nats.Msg) string { return m.Header.Get("Nats-Service-Error-Code") }
