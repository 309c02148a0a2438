package testkit

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
)

// Server starts a NATS server that does not listen.
func Server(t testing.TB) *embedded.Server {
	t.Helper()
	s, err := embedded.Start(embedded.Options{StoreDir: t.TempDir(), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// Listening starts a NATS server that listens on a free port of the loopback, for
// what connects by URL: see its ClientURL.
func Listening(t testing.TB) *embedded.Server {
	t.Helper()
	s, err := embedded.Start(embedded.Options{Listen: "127.0.0.1:0", StoreDir: t.TempDir(), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// Conn connects to an embedded server without a socket.
func Conn(t testing.TB, s nats.InProcessConnProvider, options ...nats.Option) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect("", append(options, nats.InProcessServer(s), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// Router starts a router on a server and waits until it serves. It logs to
// stderr where HOOKROUTER_TEST_LOG is set. stop drains it; the test's end does so
// too.
func Router(t testing.TB, s nats.InProcessConnProvider, o router.Options, options ...natsx.Options) (r *router.Router, stop func()) {
	t.Helper()
	var bo natsx.Options
	if len(options) > 0 {
		bo = options[0]
	}
	if bo.InProcess == nil && bo.URL == "" {
		bo.InProcess = s
	}
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
	case <-time.After(20 * time.Second):
		t.Fatal("the router did not start within 20 s")
	}
	return r, stop
}
