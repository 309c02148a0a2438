package trial

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/hookrouter/hookrouter/internal/hookfile"
	"github.com/hookrouter/hookrouter/internal/hookfile/kind"
	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/replay"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// sample is an event of a file of events.
type sample struct {
	line  int
	event events.Event
	err   error // why there is none; the others may be well
}

// ReadError says that a file of events can't be read.
type ReadError struct{ Err error }

// Error is one line with the place.
func (e *ReadError) Error() string { return "read the events: " + e.Err.Error() }

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
	hooks, err := NewChain(file, o.may, false)
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	next, failed := make(chan sample), make(chan error, 1)
	go func() { // reading does not end with ctx
		defer close(next)
		failed <- read(ctx, in, func(s sample) error {
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
			r := hooks.sample(ctx, s)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			r.File = name
			if err := each(r); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// sample runs one event of a file.
func (c *Chain) sample(ctx context.Context, s sample) Result {
	start := time.Now()
	r := Result{Kind: "event", Line: s.line, Name: s.event.Name, Event: s.event.Name, Session: s.event.Session}
	if s.err != nil {
		r.Wrong = []string{undecided(s.err)}
		return r
	}
	if at, err := time.Parse(time.RFC3339, s.event.Time); err == nil {
		ctx = kind.WithTime(ctx, at)
	}
	v, err := c.Try(ctx, s.event)
	if err != nil {
		r.Wrong = []string{undecided(err)}
	} else {
		r.Verdict = &v
		for _, h := range v.Hooks {
			if h.Did == hookfile.Failed {
				r.Wrong = append(r.Wrong, fmt.Sprintf("hook %s failed: %s: %s", h.ID, h.Failure, h.Error))
			}
		}
	}
	r.OK, r.Took = len(r.Wrong) == 0, time.Since(start)
	return r
}

const (
	maxLine    = 64 << 20 // bytes of a line with an event
	exportHead = `{"hookrouter_audit_export"`
)

// read reads a file of events.
func read(ctx context.Context, in io.Reader, each func(sample) error) error {
	text := bufio.NewReader(in)
	if head, _ := text.Peek(len(exportHead)); string(head) == exportHead {
		return readExport(ctx, text, each)
	}
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		ev, ok, err := parseLine(bytes.Clone(line))
		if err != nil {
			return &ReadError{fmt.Errorf("line %d: %w", n, err)}
		}
		if !ok {
			continue
		}
		if err := each(sample{line: n, event: ev}); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return &ReadError{err}
	}
	return nil
}

func readExport(ctx context.Context, in io.Reader, each func(sample) error) error {
	n := 0
	var stopped error
	err := replay.FromExport(in, replay.Filter{})(ctx, func(c *replay.Chain) error {
		n++
		s := sample{line: n, event: c.AsEvent()}
		if refusal := c.Refused(); refusal != nil {
			s.err = refusal
		}
		stopped = each(s)
		return stopped
	})
	if err != nil && stopped == nil && ctx.Err() == nil {
		return &ReadError{err}
	}
	return err
}

// line is an event as people write it, or as `hookctl watch` does.
type line struct {
	Kind    string          `json:"kind"` // of watch: event, result or unreadable
	Event   string          `json:"event"`
	Session string          `json:"session_id"`
	ID      string          `json:"id"`
	EventID string          `json:"event_id"`
	ChainID string          `json:"chain_id"`
	Source  string          `json:"source"`
	Time    string          `json:"time"`
	Data    json.RawMessage `json:"data"`
}

// parseLine reads an event; ok is false for a line that is none, such as a result.
func parseLine(text []byte) (ev events.Event, ok bool, err error) {
	head, err := events.ParseEnvelope(text)
	if err != nil {
		return ev, false, err
	}
	if kind, _ := head.GetString("kind"); kind == "result" || kind == "unreadable" {
		return ev, false, nil
	}
	if _, envelope := head.Get("specversion"); envelope {
		name, _ := head.GetString("type")
		if ev, _, err = events.Decode(name, map[string][]string{"content-type": {"application/cloudevents+json"}}, text); err != nil {
			return ev, false, err
		}
		return complete(ev)
	}
	var l line
	if err := jsonv2.Unmarshal(text, &l, jsonv2.RejectUnknownMembers(true)); err != nil {
		return ev, false, err
	}
	if l.ID == "" {
		l.ID = l.EventID
	}
	return complete(events.Event{ID: l.ID, Source: l.Source, Name: l.Event, Session: l.Session, Time: l.Time, Data: l.Data})
}

// complete fills in what a router would.
func complete(ev events.Event) (events.Event, bool, error) {
	if err := events.CheckName(ev.Name); err != nil {
		return ev, false, err
	}
	at := time.Now()
	if ev.Time != "" {
		var err error
		if at, err = time.Parse(time.RFC3339, ev.Time); err != nil {
			return ev, false, errors.New("time must be a time such as 2026-01-05T12:00:00Z")
		}
	}
	full, err := newEvent(ev.Name, ev.Session, ev.Data, at)
	if ev.ID != "" {
		full.ID = ev.ID
	}
	if ev.Source != "" {
		full.Source = ev.Source
	}
	return full, true, err
}
