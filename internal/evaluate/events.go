package evaluate

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Sample is one event of a file of events.
type Sample struct {
	Line  int  // in the file; in an export, the number of the event
	Nth   bool // Line is the number of an event
	Event events.Event
	Err   error // why the event can't be read; other events may be valid
}

// ReadError is the error for a file of events that can't be read, with the line.
type ReadError struct {
	File string
	Line int // starting at 1; 0 means the file as a whole
	Err  error
}

// Error returns a message like "events.jsonl:3: the event has no name: ...".
func (e *ReadError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Err.Error()
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

// Unwrap returns Err.
func (e *ReadError) Unwrap() error { return e.Err }

// Events runs the events of a file through the hooks of a worker file, and calls each with the
// results. The hooks keep their state between events. The time of a call is that of the event, if
// it has one. The file has one event per line (a CloudEvent, a line of `hookctl watch --json`, or
// {"event":…,"session_id":…,"data":{…}}), or is an export of the audit log. Events returns the
// error of load, of each or of ctx, or a [*ReadError].
func Events(ctx context.Context, name string, in io.Reader, load Loader, o Options, each func(Result) error) error {
	file, err := load(kind.Worker{States: &hookstate.Memory{}})
	if err != nil {
		return err
	}
	defer file.Close()
	hooks := newHooks(file, o.may, false)
	return ReadEvents(ctx, name, in, func(s Sample) error {
		r := hooks.sample(ctx, s)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.File = name
		return each(r)
	})
}

// ReadEvents reads the events of a file: JSON with one event per line, or an export of the audit
// log. Its errors are of type [*ReadError], except those of each and of ctx.
func ReadEvents(ctx context.Context, name string, in io.Reader, each func(Sample) error) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	next, failed := make(chan Sample), make(chan error, 1)
	go func() { // a read does not end when ctx ends
		defer close(next)
		failed <- readEvents(ctx, name, in, func(s Sample) error {
			select {
			case next <- s:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	}()
	for {
		select {
		case s, more := <-next:
			if !more {
				return <-failed
			}
			if err := each(s); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// sample runs one event of a file.
func (c *fileHooks) sample(ctx context.Context, s Sample) Result {
	start := time.Now()
	r := Result{Kind: "event", Line: s.Line, Nth: s.Nth, Name: s.Event.Name, Event: s.Event.Name, Session: s.Event.Session}
	if s.Err != nil {
		r.Wrong = []string{undecidedText(s.Err)}
		return r
	}
	if at, err := time.Parse(time.RFC3339, s.Event.Time); err == nil {
		ctx = kind.WithTime(ctx, at)
	}
	v, err := c.Try(ctx, s.Event)
	r.Verdict = &v
	if err != nil {
		r.Wrong = []string{undecidedText(err)}
	} else {
		for _, h := range v.Hooks {
			if h.Effect == workerfile.Failed {
				r.Wrong = append(r.Wrong, fmt.Sprintf("hook %s failed: %s: %s", h.ID, h.Failure, h.Error))
			}
		}
	}
	r.OK, r.Took = len(r.Wrong) == 0, time.Since(start)
	return r
}
