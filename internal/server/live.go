package server

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/api/console"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// live feeds published events to the console.
func (n *Server) live(handle func(console.Event)) (stop func(), err error) {
	var stops []func()
	stopAll := func() {
		for _, stop := range stops {
			stop()
		}
	}
	for verb, read := range map[string]func(*natsx.Message) (console.Event, error){"event": n.published, "result": resulted} {
		stop, err := n.bus.Subscribe(n.bus.Of(verb, ">"), func(m *natsx.Message) {
			if ev, err := read(m); err == nil { // others may publish there too
				handle(n.withoutSecrets(ev))
			}
		})
		if err != nil {
			stopAll()
			return nil, err
		}
		stops = append(stops, stop)
	}
	return stopAll, nil
}

// published reads a message of hooks.event.<event>.
func (n *Server) published(m *natsx.Message) (console.Event, error) {
	name, err := n.bus.EventName("event", m.Subject)
	if err != nil {
		return console.Event{}, err
	}
	ev, _, err := events.Decode(name, m.Header, m.Data)
	if err != nil {
		return console.Event{}, err
	}
	at, _ := time.Parse(time.RFC3339Nano, ev.Time) // the zero time means now
	return console.Event{
		Kind: console.KindEvent, Name: ev.Name, Session: ev.Session, EventID: ev.ID, ChainID: wire.Get(m.Header, wire.HeaderChainID),
		Time: at, Data: ev.Data,
	}, nil
}

// resulted reads a message of hooks.result.<event>.
func resulted(m *natsx.Message) (console.Event, error) {
	var r struct {
		Event    string          `json:"event"`
		Session  string          `json:"session_id"`
		EventID  string          `json:"event_id"`
		ChainID  string          `json:"chain_id"`
		Action   string          `json:"action"`
		Reason   string          `json:"reason"`
		DeniedBy string          `json:"denied_by"`
		Hooks    json.RawMessage `json:"hooks"`
	}
	if err := json.Unmarshal(m.Data, &r); err != nil {
		return console.Event{}, err
	}
	if strings.TrimSpace(r.Event) == "" {
		return console.Event{}, errors.New("it names no event")
	}
	return console.Event{
		Kind: console.KindResult, Name: r.Event, Session: r.Session, EventID: r.EventID, ChainID: r.ChainID,
		Action: r.Action, Reason: r.Reason, DeniedBy: r.DeniedBy, Hooks: r.Hooks,
	}, nil
}

// withoutSecrets masks an event's secrets for people, whatever watchers get.
func (n *Server) withoutSecrets(ev console.Event) console.Event {
	if len(ev.Data) > 0 {
		ev.Data, _ = n.mask.Object(ev.Data)
	}
	ev.Reason, _ = n.mask.Text(ev.Reason)
	return ev
}
