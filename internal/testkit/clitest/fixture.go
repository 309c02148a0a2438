package clitest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// Hookctl runs hookctl with the commands that a test needs: [cli.Run] with these commands.
type Hookctl func(ctx context.Context, args []string, p cli.Process) int

// Fixture is hookctl with its environment, and a connection for hooks.
type Fixture struct {
	T       *testing.T
	Hookctl Hookctl
	Env     map[string]string
	NC      *nats.Conn
}

// Outcome is the outcome of a run of hookctl.
type Outcome struct {
	Code           int
	Stdout, Stderr string
}

// Run runs hookctl with empty input.
func (f *Fixture) Run(args ...string) Outcome { return f.With(cli.Process{}, args...) }

// With runs hookctl in process p. It sets the streams and the environment; Stdin defaults to empty.
func (f *Fixture) With(p cli.Process, args ...string) Outcome {
	f.T.Helper()
	return f.RunIn(f.T.Context(), p, args...)
}

// RunIn is like [Fixture.With], until ctx ends.
func (f *Fixture) RunIn(ctx context.Context, p cli.Process, args ...string) Outcome {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var stdout bytes.Buffer
	var stderr Diagnostics
	if p.Stdin == nil {
		p.Stdin = strings.NewReader("")
	}
	p.Stdout, p.Stderr = &stdout, &stderr
	p.Getenv = func(name string) string { return f.Env[name] }
	code := f.Hookctl(ctx, args, p)
	return Outcome{code, stdout.String(), stderr.String()}
}

// Diagnostics is a standard error that is safe for concurrent writes.
type Diagnostics struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (d *Diagnostics) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.Write(b)
}

func (d *Diagnostics) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.String()
}

// Hook serves a hook until the test ends.
func (f *Fixture) Hook(reg chain.Registration, handler worker.Handler) {
	f.T.Helper()
	client, err := hookrouter.Connect(f.T.Context(), hookrouter.Options{Conn: f.NC})
	if err != nil {
		f.T.Fatal(err)
	}
	f.T.Cleanup(client.Close)
	w, err := worker.New(client, worker.Options{})
	if err != nil {
		f.T.Fatal(err)
	}
	f.T.Cleanup(func() { _ = w.Close(context.Background()) })
	if _, err := w.Register(f.T.Context(), reg, handler); err != nil {
		f.T.Fatal(err)
	}
}

// Answering returns a handler that always returns r.
func Answering(r chain.Result) worker.Handler {
	return func(context.Context, worker.Event) (worker.Result, error) { return r, nil }
}

// Background is a hookctl that runs until it is interrupted.
type Background struct {
	t         *testing.T
	interrupt func()
	lines     chan string // of stdout and stderr
	Code      chan int
}

// Start runs hookctl in the background.
func (f *Fixture) Start(p cli.Process, args ...string) *Background {
	f.T.Helper()
	ctx, cancel := context.WithCancelCause(f.T.Context())
	interrupt := func() { cancel(errors.New("interrupt signal received")) } // as signal.NotifyContext does
	b := &Background{f.T, interrupt, make(chan string, 100), make(chan int, 1)}
	p.Stdin, p.Stdout, p.Stderr = strings.NewReader(""), lineWriter(b.lines), lineWriter(b.lines)
	env := maps.Clone(f.Env)
	p.Getenv = func(name string) string { return env[name] }
	go func() { b.Code <- f.Hookctl(ctx, args, p) }()
	return b
}

// lineWriter sends lines to a channel. It expects whole lines in each write.
type lineWriter chan string

func (w lineWriter) Write(b []byte) (int, error) {
	for line := range strings.Lines(string(b)) {
		w <- strings.TrimSuffix(line, "\n")
	}
	return len(b), nil
}

var _ io.Writer = lineWriter(nil)

// Line waits for the next line.
func (b *Background) Line() string {
	b.t.Helper()
	select {
	case line := <-b.lines:
		return line
	case code := <-b.Code:
		b.Code <- code
		select {
		case line := <-b.lines:
			return line
		default:
			b.t.Fatalf("hookctl ended with %d; want another line", code)
		}
	case <-time.After(testkit.Patience):
		b.t.Fatalf("no line after %v", testkit.Patience)
	}
	return ""
}

// Rest returns the unread output of an ended hookctl.
func (b *Background) Rest() string {
	var rest []string
	for {
		select {
		case line := <-b.lines:
			rest = append(rest, line)
		default:
			return strings.Join(rest, "\n")
		}
	}
}

// End interrupts hookctl and returns its exit code.
func (b *Background) End() int {
	b.t.Helper()
	b.interrupt()
	select {
	case code := <-b.Code:
		return code
	case <-time.After(testkit.Patience):
		b.t.Fatalf("hookctl did not end after %v", testkit.Patience)
		return -1
	}
}
