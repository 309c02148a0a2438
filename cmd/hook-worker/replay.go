package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/hookrouter/hookrouter/internal/cli/workerfiles"
	"github.com/hookrouter/hookrouter/internal/evaluate"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// replayEvents runs events through the hooks of a file, without NATS.
type replayEvents struct {
	File         string `arg:"" type:"path" help:"The worker file."`
	Events       string `arg:"" optional:"" default:"-" type:"path" help:"File with one event a line: {\"event\":…,\"session_id\":…,\"source\":…,\"id\":…,\"data\":{…}}; - reads the standard input."`
	RunAll       bool   `help:"Also run commands whose hook is not replay_safe, which repeats their side effects."`
	AsIfEnforced bool   `default:"true" negatable:"" help:"Count shadow hooks as if they were enforced; --no-as-if-enforced leaves them out."`
	Parallel     int    `default:"4" placeholder:"N" help:"How many events run at the same time."`
}

// decided is a line of the output.
type decided struct {
	*evaluate.Outcome
	Refused *evaluate.Undecided `json:"refused,omitempty"` // instead
}

// run writes what the hooks decide of each event, a line of JSON each, in the order of
// the events.
func (c replayEvents) run(ctx context.Context, p process) error {
	file, err := workerfiles.Loader(c.File, c.RunAll, p.stderr)(kind.Worker{})
	if err != nil {
		return err
	}
	defer file.Close()
	policy := evaluate.NewFilePolicy(file, evaluate.FilePolicyOptions{RunAll: c.RunAll, AsIfEnforced: c.AsIfEnforced})
	in, err := workerfiles.OpenEvents(c.Events, p.stdin)
	if err != nil {
		return err
	}
	defer in.Close()
	out := json.NewEncoder(p.stdout)
	out.SetEscapeHTML(false)
	type answer struct {
		outcome evaluate.Outcome
		err     error
	}
	err = evaluate.InOrder(ctx, c.Parallel, requests(c.Events, in), func(ctx context.Context, ev events.Event) answer {
		outcome, err := policy.Decide(ctx, ev)
		return answer{outcome, err}
	}, func(a answer) error {
		line := decided{Outcome: &a.outcome}
		if refused, ok := errors.AsType[*evaluate.Undecided](a.err); ok {
			line = decided{Refused: refused}
		} else if a.err != nil {
			return a.err
		}
		if err := out.Encode(line); err != nil {
			return fmt.Errorf("write the decision: %w", err)
		}
		return nil
	})
	if ctx.Err() != nil {
		return errors.New("interrupted before the last event")
	}
	return err
}

// maxEvent bounds a line with an event, in bytes.
const maxEvent = 64 << 20

// requests reads events, one a line. Empty lines are passed over.
func requests(name string, in io.Reader) func(context.Context, func(events.Event) error) error {
	return func(ctx context.Context, each func(events.Event) error) error {
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, maxEvent)
		next := make(chan []byte)
		failed := make(chan error, 1)
		go func() { // reading does not end with ctx
			defer close(next)
			for lines.Scan() {
				select {
				case next <- bytes.Clone(lines.Bytes()):
				case <-ctx.Done():
					return
				}
			}
			err := lines.Err()
			if err != nil {
				err = workerfiles.InputError(fmt.Errorf("read the events: %w", err))
			}
			failed <- err
		}()
		for n := 1; ; n++ {
			select {
			case line, more := <-next:
				if !more {
					return <-failed
				}
				if len(bytes.TrimSpace(line)) == 0 {
					continue
				}
				ev, err := parseEvent(line)
				if err != nil {
					return workerfiles.InputError(&evaluate.ReadError{File: name, Line: n, Err: err})
				}
				if err := each(ev); err != nil {
					return err
				}
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
}

// request is an event as it is written.
type request struct {
	Event   string          `json:"event"`
	Session string          `json:"session_id"`
	ID      string          `json:"id"`
	Source  string          `json:"source"`
	Time    string          `json:"time"`
	Data    json.RawMessage `json:"data"`
}

// parseEvent reads an event; what a router would fill in is filled in.
func parseEvent(line []byte) (ev events.Event, err error) {
	var req request
	if err := jsonv2.Unmarshal(line, &req, jsonv2.RejectUnknownMembers(true)); err != nil {
		return ev, err
	}
	if err := events.CheckName(req.Event); err != nil {
		return ev, err
	}
	if len(req.Data) == 0 {
		req.Data = json.RawMessage("{}")
	}
	data, err := events.ParseObject(req.Data)
	if err != nil {
		return ev, err
	}
	own, _ := data.GetString("session_id")
	if own != "" && req.Session != "" && own != req.Session {
		return ev, errors.New("session_id is another one in the data")
	}
	ev = events.Event{
		ID: cmp.Or(req.ID, events.NewID()), Source: cmp.Or(req.Source, events.DefaultSource), Time: cmp.Or(req.Time, events.Now()),
		Name: req.Event, Session: cmp.Or(req.Session, own), Data: req.Data,
	}
	if _, stamped := data.Get("timestamp"); !stamped {
		ev.Data = data.Over(events.Object{}, ev.Time)
	}
	return ev, nil
}
