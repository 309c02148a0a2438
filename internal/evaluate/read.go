package evaluate

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/hookrouter/hookrouter/pkg/events"
)

const (
	maxLine    = 64 << 20 // bytes per line
	exportHead = `{"hookrouter_audit_export"`
	byteOrder  = "\ufeff" // the byte order mark that some editors write
)

// ErrNoEvents is the cause of a [*ReadError] for a file without events.
var ErrNoEvents = errors.New(`there are no events in it: write one a line, such as {"event":"tool:pre","session_id":"s1","data":{}}`)

var (
	errNoName = errors.New(`the event has no name: give it, such as "event":"tool:pre", or for a CloudEvent "type":"tool:pre"`)
	errLong   = fmt.Errorf("the line has more than %d MiB: events are at most as long as NATS messages", maxLine>>20)
)

// readEvents reads a file of events.
func readEvents(ctx context.Context, name string, in io.Reader, each func(Sample) error) error {
	text := bufio.NewReader(in)
	if head, _ := text.Peek(len(byteOrder)); string(head) == byteOrder {
		_, _ = text.Discard(len(byteOrder))
	}
	if head, _ := text.Peek(len(exportHead)); string(head) == exportHead {
		return readExport(ctx, name, text, each)
	}
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, maxLine)
	n, some := 1, false
	for ; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		ev, ok, err := parseLine(bytes.Clone(line))
		if err != nil {
			return &ReadError{name, n, err}
		}
		if !ok {
			continue
		}
		some = true
		if err := each(Sample{Line: n, Event: ev}); err != nil {
			return err
		}
	}
	err := lines.Err()
	switch failed, isPath := errors.AsType[*fs.PathError](err); {
	case errors.Is(err, bufio.ErrTooLong):
		return &ReadError{name, n, errLong}
	case isPath: // the PathError repeats the name
		return &ReadError{name, 0, failed.Err}
	case err != nil:
		return &ReadError{name, n, err}
	case !some:
		return &ReadError{name, 0, ErrNoEvents}
	}
	return nil
}

func readExport(ctx context.Context, name string, in io.Reader, each func(Sample) error) error {
	n := 0
	var stopped error
	err := FromExport(in, RecordingFilter{})(ctx, func(c *Recording) error {
		n++
		s := Sample{Line: n, Nth: true, Event: c.asEvent()}
		if refusal := c.Refused(); refusal != nil {
			s.Err = refusal
		}
		stopped = each(s)
		return stopped
	})
	switch {
	case stopped != nil || ctx.Err() != nil:
		return err
	case err != nil:
		return &ReadError{name, 0, err}
	case n == 0:
		return &ReadError{name, 0, errors.New("the export has no events in it: see what it is of with hookctl audit export --help")}
	}
	return nil
}

// line is an event as written by hand, or by `hookctl watch`.
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

// parseLine parses an event. ok is false for a line that is not an event, such as a result.
func parseLine(text []byte) (ev events.Event, ok bool, err error) {
	head, err := events.ParseEnvelope(text)
	if err != nil {
		return ev, false, noEvent(text, err)
	}
	if kind, _ := head.GetString("kind"); kind == "result" || kind == "unreadable" {
		return ev, false, nil
	}
	if _, envelope := head.Get("specversion"); envelope {
		name, _ := head.GetString("type")
		if name == "" {
			return ev, false, errNoName
		}
		if ev, _, err = events.Decode(name, map[string][]string{"content-type": {"application/cloudevents+json"}}, text); err != nil {
			return ev, false, err
		}
		return complete(ev)
	}
	var l line
	if err := jsonv2.Unmarshal(text, &l, jsonv2.RejectUnknownMembers(true)); err != nil {
		return ev, false, mismatch(err)
	}
	return complete(events.Event{ID: cmp.Or(l.ID, l.EventID), Source: l.Source, Name: l.Event, Session: l.Session, Time: l.Time, Data: l.Data})
}

// noEvent returns an error for a line that is not a JSON object, with what to do about it.
func noEvent(text []byte, err error) error {
	todo := "jq -c ."
	if text[0] == '[' {
		todo = "jq -c '.[]'"
	}
	return fmt.Errorf("the line %s: write each event whole on one line, as a JSON object (%s does)", strings.TrimPrefix(err.Error(), "data "), todo)
}

// mismatch describes a wrong member of an event in terms of the file.
func mismatch(err error) error {
	sem, ok := errors.AsType[*jsonv2.SemanticError](err)
	switch {
	case !ok:
		return err
	case errors.Is(err, jsonv2.ErrUnknownName):
		return fmt.Errorf("an event has no member %q: it has event, session_id, data, time, id and source", sem.JSONPointer.LastToken())
	}
	return fmt.Errorf("%s must be a text", sem.JSONPointer.LastToken()) // data may have any type here
}

// complete fills in the fields that a router would set.
func complete(ev events.Event) (events.Event, bool, error) {
	if ev.Name == "" {
		return ev, false, errNoName
	}
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
	full.ID, full.Source = cmp.Or(ev.ID, full.ID), cmp.Or(ev.Source, full.Source)
	return full, true, err
}
