package hooktest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/auditlog"
	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit/memdir"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// Options configure a bus. The zero value suits most tests.
type Options struct {
	// Listen makes the server listen on a free loopback port, so that other processes can connect
	// to [Bus.URL]. If false, only this process can connect.
	Listen bool
	// Prefix of the subjects; empty means "hooks".
	Prefix string
	// TTL is how long a hook stays registered without renewal; 0 means the router's 15 s.
	TTL time.Duration
	// ChainTimeout bounds a chain; 0 means the router's 30 s.
	ChainTimeout time.Duration
	// Log gets the log of the server and the router; nil discards it.
	Log *slog.Logger
}

// Limits that only a hanging program exceeds, however busy the machine is.
const (
	connectTimeout = 30 * time.Second
	closeTimeout   = 30 * time.Second // of the wait for requests in flight at the end of a test
)

// recordTimeout bounds the wait of an answer for its records. It exceeds the router's default: on a
// busy machine an answer would be refused, and the agent's next try would call the hooks again.
const recordTimeout = 10 * time.Second

// Bus is a NATS server and a router, both in this process.
type Bus struct {
	options Options
	dir     string
	server  *embedded.Server
	bus     *natsx.Conn // the router's
	cancel  context.CancelFunc
	done    chan error // gets the result of the router's Run
	once    sync.Once  // guards closing
	failed  error      // result of closing
}

// Start starts a bus that is closed at the end of the test. The test fails if it can't start. At
// most one Options is used.
func Start(t testing.TB, options ...Options) *Bus {
	t.Helper()
	b, err := New(t.Context(), first(options))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// New starts a bus without a test, as for an Example or a TestMain. ctx bounds the start only. Call
// [Bus.Close].
func New(ctx context.Context, o Options) (*Bus, error) {
	dir, err := os.MkdirTemp(memdir.Parent(), "hooktest-")
	if err != nil {
		return nil, fmt.Errorf("start a bus: %w", err)
	}
	b := &Bus{options: o, dir: dir}
	if err := b.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start a bus: %w", err), b.Close())
	}
	return b, nil
}

func (b *Bus) start(ctx context.Context) error {
	o := embedded.Options{StoreDir: b.dir, NoSync: true, Log: b.options.Log}
	if b.options.Listen {
		o.Listen = "127.0.0.1:0"
	}
	var err error
	if b.server, err = embedded.Start(o); err != nil {
		return err
	}
	b.bus, err = natsx.Connect(natsx.Options{Prefix: b.options.Prefix, Name: "hook-router", InProcess: b.server, Log: b.options.Log})
	if err != nil {
		return err
	}
	r, err := router.New(ctx, b.bus, router.Options{
		Replicas: 1, DrainTimeout: closeTimeout, Log: b.options.Log,
		Audit:    auditlog.Options{Recorder: recorder.Options{Timeout: recordTimeout}},
		Dispatch: dispatch.Options{ChainTimeout: b.options.ChainTimeout}, Registry: registry.Options{TTL: b.options.TTL},
	})
	if err != nil {
		return err
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	b.cancel, b.done = cancel, make(chan error, 1)
	up := make(chan struct{})
	go func() { b.done <- r.Run(running, func() { close(up) }) }()
	select {
	case <-up:
		return nil
	case err := <-b.done:
		b.done <- nil
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close closes the bus: the router finishes the requests that it took, then the server stops and
// its files are removed. Close connections first. Calling Close again returns the same error.
func (b *Bus) Close() error {
	b.once.Do(func() { b.failed = b.close() })
	return b.failed
}

func (b *Bus) close() error {
	var err error
	if b.cancel != nil {
		b.cancel()
		err = <-b.done
	}
	if b.bus != nil {
		b.bus.Close()
	}
	if b.server != nil {
		b.server.Stop()
	}
	if err = errors.Join(err, os.RemoveAll(b.dir)); err != nil {
		return fmt.Errorf("stop the bus: %w", err)
	}
	return nil
}

// URL returns the server's address for other processes; empty unless Options.Listen is set.
func (b *Bus) URL() string {
	if !b.options.Listen {
		return ""
	}
	return b.server.ClientURL()
}

// Prefix returns the first token of all subjects.
func (b *Bus) Prefix() string { return b.bus.Prefix() }

// Connect connects to the server without a socket. The caller closes the connection.
func (b *Bus) Connect(options ...nats.Option) (*nats.Conn, error) {
	options = append([]nats.Option{nats.Timeout(connectTimeout)}, options...)
	nc, err := nats.Connect("", append(options, nats.InProcessServer(b.server))...)
	if err != nil {
		return nil, fmt.Errorf("connect to the bus: %w", err)
	}
	return nc, nil
}

// Conn is Connect for a test. The connection is closed at the end of the test.
func (b *Bus) Conn(t testing.TB) *nats.Conn {
	t.Helper()
	nc, err := b.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// Client returns a client that is closed at the end of the test. At most one Options is used; the
// bus sets its connection and prefix.
func (b *Bus) Client(t testing.TB, options ...hookrouter.Options) *hookrouter.Client {
	t.Helper()
	o := first(options)
	o.Conn, o.Prefix = b.Conn(t), b.Prefix()
	client, err := hookrouter.Connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// Worker returns a worker with its own connection, closed at the end of the test. At most one
// Options is used.
func (b *Bus) Worker(t testing.TB, options ...worker.Options) *worker.Worker {
	t.Helper()
	w, err := worker.New(b.Client(t), first(options))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		if err := w.Close(ctx); err != nil {
			t.Errorf("close the worker: %v", err)
		}
	})
	return w
}

// first returns the first options, or the zero value.
func first[O any](options []O) (o O) {
	if len(options) > 0 {
		return options[0]
	}
	return o
}

// Register registers a handler with a new worker until the end of the test.
func (b *Bus) Register(t testing.TB, reg worker.Registration, handler worker.Handler) {
	t.Helper()
	if _, err := b.Worker(t).Register(t.Context(), reg, handler); err != nil {
		t.Fatal(err)
	}
}

// Agent returns an agent for a session, empty for none, with its own connection.
func (b *Bus) Agent(t testing.TB, session string) *agent.Agent {
	t.Helper()
	a, err := agent.New(b.Client(t), agent.Options{Session: session})
	if err != nil {
		t.Fatal(err)
	}
	return a
}
