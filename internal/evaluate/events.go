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

// Sample is an event of a file of events.
type Sample struct {
	Line  int  // in the file; of an export the number of the event
	Nth   bool // Line is such a number
	Event events.Event
	Err   error // why there is none; the others may be well
}

// ReadError says that a file of events can't be read, and where.
type ReadError struct {
	File string
	Line int // from 1; 0 means the file as a whole
	Err  error
}

// Error is like "events.jsonl:3: the event has no name: ...".
func (e *ReadError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Err.Error()
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

// Unwrap returns what is wrong.
func (e *ReadError) Unwrap() error { return e.Err }

// Events runs the events of a file through the hooks of another, and calls each with
// what came of them. The hooks remember what was before; the time is that of the event,
// where it has one. The file has an event a line: a CloudEvent, a line of
// `hookctl watch --json`, or {"event":…,"session_id":…,"data":{…}}; or it is an export of
// the audit log. Its error is that of load, of each, of ctx, or a [*ReadError].
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

// ReadEvents reads the events of a file: JSON with an event a line, or an export of the audit log. Its
// errors are of type [*ReadError], but for those of each.
func ReadEvents(ctx context.Context, name string, in io.Reader, each func(Sample) error) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	next, failed := make(chan Sample), make(chan error, 1)
	go func() { // reading does not end with ctx
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
