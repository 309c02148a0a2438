package resident

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/process"
)

// Limits of a [Process].
const (
	MaxPause   = 10 * time.Second       // before a program that never answered is started again
	firstPause = 100 * time.Millisecond // the shortest such pause
	maxLine    = process.DefaultMaxOutput
)

// Options say what runs and how much it may be asked. The zero Options can't run.
type Options struct {
	// Program is what runs; its Input, Stdin, Stdout, Stderr and Signals are not used.
	Program process.Program
	// InFlight is how many questions may be open at once; 0 means one.
	InFlight int
	// MaxLine bounds a line of the program's output, in bytes; 0 means
	// [process.DefaultMaxOutput].
	MaxLine int
	// Timeout is what a question may take; 0 means five seconds.
	Timeout time.Duration
	// Startup is what the first answer of a program may take, from its start; 0 means
	// ten seconds.
	Startup time.Duration
	// Ready says why the program can't be started now; nil where nothing is looked at.
	Ready func() error
	// Log gets what the program says and when it ends; nil discards it.
	Log *slog.Logger
}

// Process is a program that is kept running. Close it.
type Process struct {
	Options
	starting sync.Once
	stop     chan struct{} // closed by Close
	stopping sync.Once
	done     chan struct{} // closed when nothing runs any more
	notices  *notices

	mu      sync.Mutex    // guards what follows
	talk    *talk         // nil while no program runs
	changed chan struct{} // closed when talk is set
	next    time.Time     // when the next program starts, where talk is nil
	last    error         // why the last one ended
}

// New returns a process that is not started.
func New(o Options) *Process {
	o.InFlight = cmp.Or(o.InFlight, 1)
	o.MaxLine = cmp.Or(o.MaxLine, maxLine)
	o.Timeout = cmp.Or(o.Timeout, 5*time.Second)
	o.Startup = cmp.Or(o.Startup, 10*time.Second)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Process{Options: o, stop: make(chan struct{}), done: make(chan struct{}), changed: make(chan struct{}), notices: newNotices(o.Log)}
}

// Start starts the program, and has it started again when it ends. It does not wait.
func (p *Process) Start() { p.starting.Do(func() { go p.keep() }) }

// Close ends the program and waits for that: its standard input ends; if it goes on,
// it gets SIGTERM, and then it is killed. Questions that are open fail.
func (p *Process) Close() {
	p.stopping.Do(func() { close(p.stop) })
	p.starting.Do(func() { close(p.done) }) // it never ran
	<-p.done
}

var errClosed = errors.New("it was stopped")

// Ask asks a question, a JSON object with a member or more, and returns the result of the answer. An error
// means that there is none.
func (p *Process) Ask(ctx context.Context, question []byte) (jsontext.Value, error) {
	p.Start()
	for {
		t, err := p.running(ctx)
		if err != nil {
			return nil, err
		}
		select {
		case t.slots <- struct{}{}:
		case <-t.over: // nothing was asked: the next one may be
			continue
		case <-ctx.Done():
			return nil, fmt.Errorf("it is busy with %d other calls, as many as it may have: %w", p.InFlight, context.Cause(ctx))
		}
		if result, err := t.ask(ctx, question); !errors.Is(err, errNotAsked) {
			return result, err
		}
	}
}

// running is the conversation with the program that runs, when there is one.
func (p *Process) running(ctx context.Context) (*talk, error) {
	for {
		p.mu.Lock()
		t, changed, next, last := p.talk, p.changed, p.next, p.last
		p.mu.Unlock()
		if t != nil {
			return t, nil
		}
		if deadline, bounded := ctx.Deadline(); bounded && last != nil && deadline.Before(next) {
			return nil, fmt.Errorf("it starts again in %s; %w", time.Until(next).Round(time.Millisecond), last)
		}
		select {
		case <-changed:
		case <-p.done:
			return nil, errClosed
		case <-ctx.Done():
			return nil, fmt.Errorf("it does not run: %w", errors.Join(context.Cause(ctx), last))
		}
	}
}

// keep runs the program until the process is closed.
func (p *Process) keep() {
	defer close(p.done)
	for pause := time.Duration(0); ; {
		t := newTalk(p)
		p.set(t, nil, time.Time{})
		err := t.run()
		select {
		case <-p.stop:
			p.set(nil, errClosed, time.Now())
			return
		default:
		}
		if t.answered() {
			pause = 0
		}
		p.set(nil, err, time.Now().Add(pause))
		p.Log.Warn("hook process ended; it starts again", "error", err, "pause", pause)
		select {
		case <-time.After(pause):
		case <-p.stop:
			return
		}
		pause = min(max(2*pause, firstPause), MaxPause)
	}
}

// set says what runs now.
func (p *Process) set(t *talk, last error, next time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.talk, p.next = t, next
	if t == nil {
		p.last = last
		return
	}
	close(p.changed)
	p.changed = make(chan struct{})
}
