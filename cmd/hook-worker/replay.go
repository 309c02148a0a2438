package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/hookrouter/hookrouter/internal/evaluate"
	"github.com/hookrouter/hookrouter/internal/evaluate/replay"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// replayEvents runs events through the hooks of a file, without NATS.
type replayEvents struct {
	File         string `arg:"" type:"path" help:"The worker file."`
	Events       string `arg:"" optional:"" default:"-" type:"path" help:"File with one event a line: {\"event\":…,\"session_id\":…,\"source\":…,\"id\":…,\"data\":{…}}; - reads the standard input."`
	RunAll       bool   `help:"Run commands whose hook is not replay_safe too: what they do, they do again."`
	AsIfEnforced bool   `default:"true" negatable:"" help:"Hooks in mode shadow count as if they were enforced; else they are left out."`
	Parallel     int    `default:"4" placeholder:"N" help:"How many events at the same time."`
}

// run writes what the hooks decide of each event, a line of JSON each, in the order of
// the events.
func (c replayEvents) run(ctx context.Context, stdout, stderr io.Writer) error {
	file, err := loader(c.File, c.RunAll, stderr)(kind.Worker{})
	if err != nil {
		return err
	}
	policy := newPolicy(file, c.RunAll, c.AsIfEnforced)
	in, err := openEvents(c.Events)
	if err != nil {
		return err
	}
	defer in.Close()
	out := json.NewEncoder(stdout)
	out.SetEscapeHTML(false)
	err = replay.InOrder(ctx, c.Parallel, requests(c.Events, in), policy.decide, func(r replay.Reply) error {
		if err := out.Encode(r); err != nil {
			return fmt.Errorf("write the decision: %w", err)
		}
		return nil
	})
	if ctx.Err() != nil {
		return errors.New("interrupted before the last event")
	}
	return err
}

// maxEvent bounds a line with an event, and what was recorded of its chain, in bytes.
const maxEvent = 64 << 20

// requests reads events, one a line. Empty lines are passed over.
func requests(name string, in io.Reader) func(context.Context, func(replay.Request) error) error {
	return func(ctx context.Context, each func(replay.Request) error) error {
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
				err = inputError{fmt.Errorf("read the events: %w", err)}
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
				req, err := parseRequest(line)
				if err != nil {
					return inputError{&evaluate.ReadError{File: name, Line: n, Err: err}}
				}
				if err := each(req); err != nil {
					return err
				}
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
}

// parseRequest reads an event; what a router would fill in is filled in.
func parseRequest(line []byte) (req replay.Request, err error) {
	if err := jsonv2.Unmarshal(line, &req, jsonv2.RejectUnknownMembers(true)); err != nil {
		return req, err
	}
	if err := events.CheckName(req.Event); err != nil {
		return req, err
	}
	if len(req.Data) == 0 {
		req.Data = json.RawMessage("{}")
	}
	data, err := events.ParseObject(req.Data)
	if err != nil {
		return req, err
	}
	own, _ := data.GetString("session_id")
	switch {
	case req.Session == "":
		req.Session = own
	case own != "" && own != req.Session && req.Recorded == nil:
		return req, errors.New("session_id is another one in the data")
	}
	for _, field := range [...]struct {
		of    *string
		value string
	}{{&req.ID, events.NewID()}, {&req.Source, events.DefaultSource}, {&req.Time, events.Now()}} {
		if *field.of == "" {
			*field.of = field.value
		}
	}
	if _, stamped := data.Get("timestamp"); !stamped {
		req.Data = data.Over(events.Object{}, req.Time)
	}
	return req, nil
}
