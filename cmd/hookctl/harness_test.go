package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// fixture is a bus with a router, and hookctl on it.
type fixture struct {
	t   *testing.T
	env map[string]string
	nc  *nats.Conn
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	s := testkit.Listening(t)
	testkit.Router(t, s, router.Options{})
	return &fixture{t, map[string]string{"NATS_URL": s.ClientURL()}, testkit.Conn(t, s)}
}

// outcome is how a run of hookctl ended.
type outcome struct {
	code           int
	stdout, stderr string
}

// run runs hookctl with empty input.
func (f *fixture) run(args ...string) outcome { return f.with(process{}, args...) }

// with runs hookctl in a process that differs in what p says.
func (f *fixture) with(p process, args ...string) outcome {
	f.t.Helper()
	return f.runIn(f.t.Context(), p, args...)
}

// runIn is with, until ctx ends.
func (f *fixture) runIn(ctx context.Context, p process, args ...string) outcome {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var stdout bytes.Buffer
	var stderr diagnostics
	if p.stdin == nil {
		p.stdin = strings.NewReader("")
	}
	p.stdout, p.stderr = &stdout, &stderr
	p.getenv = func(name string) string { return f.env[name] }
	code := run(ctx, args, p)
	return outcome{code, stdout.String(), stderr.String()}
}

// diagnostics is a standard error: as those of a process, its writes do not meet.
type diagnostics struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (d *diagnostics) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.Write(b)
}

func (d *diagnostics) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.String()
}

// hook serves a hook until the test ends.
func (f *fixture) hook(reg chain.Registration, handler worker.Handler) {
	f.t.Helper()
	w, err := worker.Connect(f.t.Context(), worker.Options{Conn: f.nc})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = w.Close(context.Background()) })
	if _, err := w.Register(f.t.Context(), reg, handler); err != nil {
		f.t.Fatal(err)
	}
}

// answering is a handler that always answers the same.
func answering(r chain.Result) worker.Handler {
	return func(context.Context, worker.Event) (worker.Result, error) { return r, nil }
}

// background is a hookctl that runs until it is interrupted.
type background struct {
	t         *testing.T
	interrupt func()
	lines     chan string // of stdout and stderr
	code      chan int
}

// start runs hookctl in the background.
func (f *fixture) start(p process, args ...string) *background {
	f.t.Helper()
	ctx, cancel := context.WithCancelCause(f.t.Context())
	interrupt := func() { cancel(errors.New("interrupt signal received")) } // as signal.NotifyContext does
	b := &background{f.t, interrupt, make(chan string, 100), make(chan int, 1)}
	p.stdin, p.stdout, p.stderr = strings.NewReader(""), lineWriter(b.lines), lineWriter(b.lines)
	env := maps.Clone(f.env)
	p.getenv = func(name string) string { return env[name] }
	go func() { b.code <- run(ctx, args, p) }()
	return b
}

// lineWriter sends whole lines to a channel; every write is one here.
type lineWriter chan string

func (w lineWriter) Write(b []byte) (int, error) {
	for line := range strings.Lines(string(b)) {
		w <- strings.TrimSuffix(line, "\n")
	}
	return len(b), nil
}

var _ io.Writer = lineWriter(nil)

// line waits for the next line.
func (b *background) line() string {
	b.t.Helper()
	select {
	case line := <-b.lines:
		return line
	case code := <-b.code:
		b.code <- code
		select {
		case line := <-b.lines:
			return line
		default:
			b.t.Fatalf("hookctl ended with %d; want another line", code)
		}
	case <-time.After(20 * time.Second):
		b.t.Fatal("no line after 20 s")
	}
	return ""
}

// end interrupts and waits for the exit code.
func (b *background) end() int {
	b.t.Helper()
	b.interrupt()
	select {
	case code := <-b.code:
		return code
	case <-time.After(20 * time.Second):
		b.t.Fatal("hookctl did not end after 20 s")
		return -1
	}
}

// What differs from run to run.
var (
	idPattern    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	timePattern  = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z`)
	clockPattern = regexp.MustCompile(`\d\d:\d\d:\d\d\.\d{3}`)
	msPattern    = regexp.MustCompile(`\d+\.\dms`)
	usPattern    = regexp.MustCompile(`"us":\d+`)
	urlPattern   = regexp.MustCompile(`127\.0\.0\.1:\d+`)
)

// steady replaces what differs from run to run.
func steady(text string) string {
	text = idPattern.ReplaceAllString(text, "ID")
	text = timePattern.ReplaceAllString(text, "TIME")
	text = clockPattern.ReplaceAllString(text, "CLOCK")
	text = msPattern.ReplaceAllString(text, "MS")
	text = usPattern.ReplaceAllString(text, `"us":0`)
	return urlPattern.ReplaceAllString(text, "ADDR")
}

// want compares an outcome; blanks at the ends of the texts do not matter.
func (o outcome) want(t *testing.T, code int, stdout, stderr string) {
	t.Helper()
	if o.code != code {
		t.Errorf("exit code %d; want %d", o.code, code)
	}
	if diff := cmp.Diff(strings.TrimSpace(stdout), strings.TrimSpace(steady(o.stdout))); diff != "" {
		t.Errorf("stdout (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(strings.TrimSpace(stderr), strings.TrimSpace(steady(o.stderr))); diff != "" {
		t.Errorf("stderr (-want +got):\n%s", diff)
	}
}
