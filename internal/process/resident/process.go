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
	MaxPause   = 10 * time.Second       // maximum delay before a program that never answered is restarted
	firstPause = 100 * time.Millisecond // minimum delay
	maxLine    = process.DefaultMaxOutput
)

// Options configure a [Process]. The zero Options can't run.
type Options struct {
	// Program is the program; its Input, Stdin, Stdout, Stderr and Signals are ignored.
	Program process.Program
	// InFlight is the maximum number of open questions; 0 means one.
	InFlight int
	// MaxLine limits a line of the program's output, in bytes; 0 means [process.DefaultMaxOutput].
	MaxLine int
	// Timeout is the time after which an open question counts as overdue; 0 means five seconds.
	Timeout time.Duration
	// Startup is the time from the start of a program in which no question counts as overdue before
	// the first answer; 0 means ten seconds.
	Startup time.Duration
	// Ready returns an error if the program can't be started now. It may be nil.
	Ready func() error
	// Log gets the program's standard error and its exits; nil discards them.
	Log *slog.Logger
}

// Process is a program that is kept running. Call [Process.Close].
type Process struct {
	Options
	starting sync.Once
	stop     chan struct{} // closed by Close
	stopping sync.Once
	done     chan struct{} // closed when nothing runs anymore
	notices  *notices

	mu      sync.Mutex    // guards the fields below
	talk    *talk         // nil while no program runs
	changed chan struct{} // closed when talk is set
	next    time.Time     // when the program starts again, if talk is nil
	last    error         // why the last run ended
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

// Start starts the program, and restarts it when it exits. It does not wait.
func (p *Process) Start() { p.starting.Do(func() { go p.keep() }) }

// Close ends the program and waits for it. It closes the program's standard input, then sends
// SIGTERM, and then kills the program. Open questions fail.
func (p *Process) Close() {
	p.stopping.Do(func() { close(p.stop) })
	p.starting.Do(func() { close(p.done) }) // if it never ran
	<-p.done
}

var errClosed = errors.New("it was stopped")

// Ask asks a question, a JSON object with at least one member, and returns the result in the
// answer.
func (p *Process) Ask(ctx context.Context, question []byte) (jsontext.Value, error) {
	p.Start()
	for {
		t, err := p.running(ctx)
		if err != nil {
			return nil, err
		}
		select {
		case t.slots <- struct{}{}:
		case <-t.over: // not asked yet: try the next run of the program
			continue
		case <-ctx.Done():
			return nil, fmt.Errorf("it is busy with %d other calls, as many as it may have: %w", p.InFlight, context.Cause(ctx))
		}
		if result, err := t.ask(ctx, question); !errors.Is(err, errNotAsked) {
			return result, err
		}
	}
}

// running waits until the program runs, and returns the conversation with it.
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

// set sets the conversation, or, if t is nil, why the last run ended and when the next one starts.
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
