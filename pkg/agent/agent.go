package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// Refusal is the error of a request that the router refused: Code is the wire
// protocol's, Text says what was wrong and what to do.
type Refusal = wire.Error

// ErrNoRouter means that nobody answers on the router's subjects.
var ErrNoRouter = errors.New("no router answers")

// ErrLost means that the connection was lost while an answer was waited for:
// nothing is known of it, and hooks may have been called.
var ErrLost = errors.New("the connection to NATS was lost while waiting for the answer: hooks may have been called")

// maxDefaults is how much JSON default fields may be, in bytes.
const maxDefaults = 8 << 10

// Options say how an agent connects and who it is. The zero Options connect to
// nats://127.0.0.1:4222 without a session.
type Options struct {
	// URL of the NATS servers, comma-separated; empty means nats://127.0.0.1:4222.
	URL string
	// Conn is a connection to use instead; it stays the caller's.
	Conn *nats.Conn
	// Prefix of the subjects; empty means "hooks".
	Prefix string
	// Creds is the path of a NATS credentials file; empty for none.
	Creds string
	// NATS holds further options of the connection.
	NATS []nats.Option
	// Session is the id of the session that events belong to, unless their data
	// names another.
	Session string
	// Source is the CloudEvents source, a URI reference; empty means "/agent".
	Source string
	// Patience is how long to ask again while no router can serve; 0 means 5 s,
	// negative means not at all.
	Patience time.Duration
	// OnPending is told of each question to a person that [Agent.Execute] waits
	// for, once, before it waits; it must return soon. nil tells nobody.
	OnPending func(verdict.Approval)
	// Log gets lost and regained connections, and what a session could not
	// deliver; nil discards them.
	Log *slog.Logger
}

// Agent emits the events of one agent.
type Agent struct {
	Options
	bus *natsx.Conn

	mu       sync.Mutex     // guards what follows
	fields   map[string]any // the default fields as they were given
	defaults string         // the Hook-Defaults header
}

// Connect connects an agent. Close it.
func Connect(_ context.Context, o Options) (*Agent, error) {
	if o.Source == "" {
		o.Source = "/agent"
	}
	if o.Patience == 0 {
		o.Patience = 5 * time.Second
	}
	a := &Agent{Options: o}
	var err error
	if o.Conn != nil {
		a.bus, err = natsx.New(o.Conn, o.Prefix, o.Log)
	} else {
		a.bus, err = natsx.Connect(natsx.Options{URL: o.URL, Prefix: o.Prefix, Name: "agent", Creds: o.Creds, NATS: o.NATS, Log: o.Log})
	}
	if err != nil {
		return nil, err
	}
	if err := a.SetDefaultFields(nil); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// Close disconnects, unless the connection is the caller's.
func (a *Agent) Close() {
	if a.Conn == nil {
		a.bus.Close()
	}
}

// SetDefaultFields sets the fields that are merged below the data of every event
// that a hook gets, next to the session's id; it replaces the earlier ones. Up to
// 8 KiB of JSON.
func (a *Agent) SetDefaultFields(fields map[string]any) error {
	all := map[string]any{}
	if a.Session != "" {
		all["session_id"] = a.Session
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

// asciiJSON escapes what a header can't hold.
func asciiJSON(text string) string {
	var b strings.Builder
	for _, c := range text {
		switch {
		case c < 0x7f:
			b.WriteRune(c)
		case c > 0xffff:
			c -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+c>>10, 0xdc00+c&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, c)
		}
	}
	return b.String()
}

// event is the body and the headers of one event.
func (a *Agent) event(name string, data any) (wire.Header, []byte, error) {
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
	ev := events.Event{ID: events.NewID(), Source: a.Source, Name: name, Session: a.Session, Time: events.Now()}
	if own, ok := object.GetString("session_id"); ok && own != "" {
		ev.Session = own
	}
	header := wire.Header{}
	ev.SetHeader(header)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.defaults != "" {
		header[wire.HeaderDefaults] = []string{a.defaults}
	}
	return header, body, nil
}

// request asks a router, and asks again while none can serve. before is called
// before each try; it may be nil.
func (a *Agent) request(ctx context.Context, subject string, header wire.Header, body []byte, before func()) (*natsx.Message, error) {
	patience := time.Now().Add(a.Patience)
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		if before != nil {
			before()
		}
		msg, err := a.try(ctx, subject, header, body)
		if err == nil {
			return msg, nil
		}
		if !passing(err) || time.Now().Add(pause).After(patience) {
			return nil, a.explain(subject, err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, a.explain(subject, err)
		}
	}
}

// try sends one request and waits for its answer for as long as ctx and the
// connection last.
func (a *Agent) try(ctx context.Context, subject string, header wire.Header, body []byte) (*natsx.Message, error) {
	ctx, stop := a.bus.UntilLost(ctx, ErrLost)
	defer stop()
	msg, err := a.bus.Request(ctx, subject, header, body)
	if err != nil && errors.Is(context.Cause(ctx), ErrLost) && !passing(err) {
		err = ErrLost
	}
	return msg, err
}

// passing reports whether no hook can have been called and a router may be there
// the next time.
func passing(err error) bool {
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		return refusal.Code == wire.Unavailable
	}
	return errors.Is(err, natsx.ErrNoResponders) || errors.Is(err, natsx.ErrDisconnected)
}

func (a *Agent) explain(subject string, err error) error {
	if errors.Is(err, natsx.ErrNoResponders) {
		return fmt.Errorf("%w on %s: start `hook-router`, or check the prefix", ErrNoRouter, subject)
	}
	return err
}
