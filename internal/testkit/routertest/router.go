// Package routertest starts a router in a test. It is a separate package because it links the
// dependencies of a router: CEL, telemetry, the audit log.
package routertest

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
)

// Start starts a router on a server and waits until it serves. It logs to stderr if
// HOOKROUTER_TEST_LOG is set. By default, answers wait up to 10 s for their records, so that a busy
// machine does not cause refusals, and the log is signed with little delay. stop drains the router,
// as does the end of the test.
func Start(t testing.TB, s nats.InProcessConnProvider, o router.Options, options ...natsx.Options) (r *router.Router, stop func()) {
	t.Helper()
	var bo natsx.Options
	if len(options) > 0 {
		bo = options[0]
	}
	if bo.InProcess == nil && bo.URL == "" {
		bo.InProcess = s
	}
	o.Audit.Recorder.Timeout = cmp.Or(o.Audit.Recorder.Timeout, 10*time.Second)
	o.Audit.Signer.Interval = cmp.Or(o.Audit.Signer.Interval, 50*time.Millisecond)
	if o.Log == nil && os.Getenv("HOOKROUTER_TEST_LOG") != "" {
		o.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	b, err := natsx.Connect(bo)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if r, err = router.New(ctx, b, o); err != nil {
		cancel()
		b.Close()
		t.Fatal(err)
	}
	up, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- r.Run(ctx, func() { close(up) }) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("stop the router: %v", err)
		}
		b.Close()
	}
	t.Cleanup(stop)
	select {
	case <-up:
	case err := <-done:
		done <- err
		t.Fatalf("the router did not start: %v", err)
	case <-time.After(testkit.Patience):
		t.Fatalf("the router did not start within %v", testkit.Patience)
	}
	return r, stop
}
