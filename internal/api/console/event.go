package console

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// maxEventData is the largest event data that is shown live.
const maxEventData = 16 << 10

// The kinds of live events.
const (
	KindEvent  = "event"  // hooks.event.<event>: the event was admitted
	KindResult = "result" // hooks.result.<event>: what the hooks decided
)

// Event is a published event, or the result of one. Text members that are empty
// are unknown.
type Event struct {
	Kind     string    // KindEvent or KindResult
	Name     string    // of the event: "tool:pre"
	Session  string    // its id
	EventID  string    // ce-id
	ChainID  string    // Hook-Chain-Id: joins a result to its event
	Time     time.Time // of the event; for a result, when it came. Zero: now
	Action   string    // of a result
	Reason   string    // of a result
	DeniedBy string    // of a result: the hook's id
	// Hooks is the member of the same name of hooks.result.<event>: a JSON array.
	Hooks json.RawMessage
	// Data is the event's published data: a JSON object. Above 16 KiB only its size is shown.
	Data json.RawMessage
}

// message encodes an event for sockets.
func (e Event) message() ([]byte, error) {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	w := events.NewObjectWriter(make([]byte, 0, 256+len(e.Hooks)+min(len(e.Data), maxEventData)))
	w.String("type", "event")
	w.String("kind", e.Kind)
	w.String("name", e.Name)
	w.Text("session_id", e.Session)
	w.Text("event_id", e.EventID)
	w.Text("chain_id", e.ChainID)
	w.String("time", approval.At(e.Time).String())
	w.Text("action", e.Action)
	w.Text("reason", e.Reason)
	w.Text("denied_by", e.DeniedBy)
	if len(e.Hooks) > 0 && len(e.Hooks) <= maxEventData {
		w.Raw("hooks", e.Hooks)
	}
	if len(e.Data) > 0 {
		w.Int("data_bytes", int64(len(e.Data)))
		if len(e.Data) <= maxEventData {
			w.Raw("data", e.Data)
		}
	}
	text := w.End()
	if !json.Valid(text) {
		return nil, errors.New("its data or hooks are not JSON")
	}
	return text, nil
}
