package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/hookrouter/hookrouter/internal/clientconn"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// maxDefaults is the maximum JSON size of default fields, in bytes.
const maxDefaults = 8 << 10

// Options configure an agent. The zero Options are an agent without a session.
type Options struct {
	// Session is the id of the session, for events whose data does not name another.
	Session string
	// Parent is the session that spawned this one, and Root is the root of the session tree; both
	// are empty unless the agent is a sub-agent, of any vendor. Routers also apply the labels of
	// these sessions to this one.
	Parent, Root string
	// Source is the CloudEvents source, a URI reference; empty means "/agent".
	Source string
	// OnPending is called once for each approval request that [Agent.Execute] waits for, before the
	// wait. It must not block. Nil means no callback.
	OnPending func(verdict.Approval)
	// Middleware wraps every call that runs hooks; the first is the outermost.
	Middleware []Middleware
}

// Agent sends events to the routers. It is safe for concurrent use.
type Agent struct {
	conn    *clientconn.Conn
	options Options // not changed after newAgent
	invoke  Invoker // runs a call through the middleware

	mu       sync.Mutex     // guards fields and defaults
	fields   map[string]any // as set by the caller
	defaults string         // the Hook-Defaults header
}

// New creates an agent on a client's connection. There is nothing to close.
func New(client *hookrouter.Client, o Options) (*Agent, error) {
	o.Source = cmp.Or(o.Source, "/agent")
	o.Middleware = slices.Clone(o.Middleware)
	return newAgent(clientconn.Of(client), o, nil)
}

func newAgent(conn *clientconn.Conn, o Options, fields map[string]any) (*Agent, error) {
	a := &Agent{conn: conn, options: o}
	a.invoke = a.dispatch
	for _, m := range slices.Backward(o.Middleware) {
		a.invoke = m(a.invoke)
	}
	if err := a.SetDefaultFields(fields); err != nil {
		return nil, err
	}
	return a, nil
}

// Session returns the id of the agent's session, empty for none.
func (a *Agent) Session() string { return a.options.Session }

// SetDefaultFields sets fields that routers add to the data of every event before hooks see it,
// unless the data has a field of that name. It replaces earlier default fields. The limit is 8 KiB
// of JSON, including the session's id.
func (a *Agent) SetDefaultFields(fields map[string]any) error {
	all := map[string]any{}
	if a.options.Session != "" {
		all["session_id"] = a.options.Session
	}
	maps.Copy(all, fields)
	text := ""
	if len(all) > 0 {
		b, err := json.Marshal(all)
		if err != nil {
			return fmt.Errorf("set default fields: %w", err)
		}
		text = asciiJSON(string(b))
	}
	if len(text) > maxDefaults {
		return fmt.Errorf("set default fields: they have %d bytes of JSON: at most %d are allowed", len(text), maxDefaults)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fields, a.defaults = maps.Clone(fields), text
	return nil
}

// asciiJSON escapes the characters that a header can't hold.
func asciiJSON(text string) string {
	return wire.EscapeJSON(text, func(r rune) bool { return r >= 0x7f })
}

// event returns the headers and the body of one event.
func (a *Agent) event(ctx context.Context, name string, data any) (wire.Header, []byte, error) {
	if err := events.CheckName(name); err != nil {
		return nil, nil, err
	}
	body, ok := data.(json.RawMessage)
	if !ok {
		var err error
		if body, err = json.Marshal(data); err != nil {
			return nil, nil, fmt.Errorf("emit %s: %w", name, err)
		}
	}
	if string(body) == "null" || len(body) == 0 {
		body = []byte("{}")
	}
	object, err := events.ParseObject(body)
	if err != nil {
		return nil, nil, fmt.Errorf("emit %s: %w", name, err)
	}
	ev := events.Event{ID: cmp.Or(clientconn.EventID(ctx), events.NewID()), Source: a.options.Source, Name: name, Session: a.options.Session, Time: events.Now()}
	if own, ok := object.GetString("session_id"); ok && own != "" {
		ev.Session = own
	}
	ev = ev.WithAttr(events.AttrParent, a.options.Parent).WithAttr(events.AttrRoot, a.options.Root)
	header := wire.Header{}
	ev.SetHeader(header)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.defaults != "" {
		header[wire.HeaderDefaults] = []string{a.defaults}
	}
	return header, body, nil
}
