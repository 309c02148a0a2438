package event

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/jsonedit"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// maxInput bounds the input from a file or the standard input, in bytes. It is above any router's
// limit, so that the router reports input that is too large.
const maxInput = 8 << 20

// eventArgs are the arguments that describe an event.
type eventArgs struct {
	Event   string   `arg:"" help:"Name of the event, such as tool:pre."`
	Data    string   `arg:"" optional:"" help:"The event's data, a JSON object; - reads the standard input, @FILE a file."`
	Set     []string `sep:"none" placeholder:"KEY=VALUE" help:"Set a member of the data, a.b for one inside another; VALUE is JSON, or text. Repeatable."`
	Session string   `placeholder:"ID" help:"Session that the event belongs to."`
}

// open reads the data, and connects as an agent.
func (a eventArgs) open(ctx context.Context, e *cli.Env, o agent.Options) (*agent.Agent, json.RawMessage, error) {
	data, err := a.data(e.Stdin)
	if err == nil {
		err = events.CheckName(a.Event)
	}
	if err != nil {
		return nil, nil, err
	}
	e.CheckSpelling(a.Event)
	o.Session = a.Session
	connected, err := e.Agent(ctx, o)
	return connected, data, err
}

// emitArgs are the arguments that describe an event to emit.
type emitArgs struct {
	eventArgs
	Default []string `sep:"none" placeholder:"KEY=VALUE" help:"Member to add where the data has none of this name. Repeatable."`

	sent   json.RawMessage
	fields map[string]any // from Default
}

// open does what eventArgs.open does, and sets the default fields.
func (a *emitArgs) open(ctx context.Context, e *cli.Env, o agent.Options) (connected *agent.Agent, err error) {
	if a.fields, err = defaults(a.Default); err != nil {
		return nil, err
	}
	if connected, a.sent, err = a.eventArgs.open(ctx, e, o); err != nil {
		return nil, err
	}
	if err := connected.SetDefaultFields(a.fields); err != nil {
		return nil, fmt.Errorf("--default: %w", err)
	}
	return connected, nil
}

// data returns the event's data.
func (a eventArgs) data(stdin io.Reader) (json.RawMessage, error) {
	text, err := a.read(stdin)
	if err != nil {
		return nil, err
	}
	if text = bytes.TrimSpace(text); len(text) == 0 {
		text = []byte("{}")
	}
	if _, err := events.ParseObject(text); err != nil {
		return nil, fmt.Errorf("read the data of %s: %w: give an object like '{\"tool_name\":\"Bash\"}'", a.Event, err)
	}
	for _, s := range a.Set {
		path, value, err := jsonedit.Assignment(s)
		if err != nil {
			return nil, err
		}
		text = jsonedit.SetPath(text, path, value)
	}
	return text, nil
}

func (a eventArgs) read(stdin io.Reader) ([]byte, error) {
	path, isFile := strings.CutPrefix(a.Data, "@")
	if a.Data != "-" && !isFile {
		return []byte(a.Data), nil
	}
	text, err := cli.ReadFile(path, stdin, maxInput)
	if err != nil {
		return nil, fmt.Errorf("read the data of %s: %w", a.Event, err)
	}
	return text, nil
}

// defaults parses the KEY=VALUE pairs of --default.
func defaults(pairs []string) (map[string]any, error) {
	fields := map[string]any{}
	for _, pair := range pairs {
		path, value, err := jsonedit.Assignment(pair)
		if err != nil {
			return nil, err
		}
		inner, _ := fields[path[0]].(json.RawMessage)
		fields[path[0]] = jsonedit.SetPath(inner, path[1:], value)
	}
	return fields, nil
}
