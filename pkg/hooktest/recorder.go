package hooktest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Record is one event that the router published for observers.
type Record struct {
	// Event is the event with its data as the agent sent it.
	Event events.Event
	// ChainID identifies the run of the chain.
	ChainID string
	// Outcome is what the hooks decided; nil until then, and for events that were collected.
	Outcome *Outcome
}

// Outcome is the outcome of a chain: the body of hooks.result.<event>.
type Outcome struct {
	Action   chain.Action `json:"action"`
	Reason   string       `json:"reason"`
	DeniedBy string       `json:"denied_by"` // id of the hook that denied; empty if none did
	Hooks    []Hop        `json:"hooks"`     // in execution order
}

// Hop is the outcome of one hook in a chain.
type Hop struct {
	ID         string        `json:"id"`
	Action     chain.Action  `json:"action"` // empty if the hook failed
	Micros     int64         `json:"us"`     // from the call to the answer, in microseconds
	Failure    chain.Failure `json:"failure"`
	FailedOpen bool          `json:"failed_open"` // the hook failed and was skipped
}

// Recorder records every event and result that the router publishes for observers. It is safe for
// concurrent use.
type Recorder struct {
	mu      sync.Mutex // guards the fields below
	records []Record
	chains  map[string]int // index in records by chain id
	changed chan struct{}  // closed and replaced with every change
}

// pending is the number of messages that the client library buffers for the recorder before it
// drops more.
const pending = 64 << 10

// Record starts to record events from now on, until the test ends.
func (b *Bus) Record(t testing.TB) *Recorder {
	t.Helper()
	r := &Recorder{chains: map[string]int{}, changed: make(chan struct{})}
	nc := b.Conn(t)
	// One channel for both, so that a result never overtakes its event.
	messages, done := make(chan *nats.Msg, pending), make(chan struct{})
	var wg sync.WaitGroup
	for _, verb := range [...]string{"event", "result"} {
		if _, err := nc.ChanSubscribe(b.bus.Of(verb, ">"), messages); err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.FlushTimeout(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	wg.Go(func() {
		for {
			select {
			case m := <-messages:
				r.take(b.bus.Subjects, m)
			case <-done:
				return
			}
		}
	})
	t.Cleanup(func() { close(done); wg.Wait() })
	return r
}

// take records one message. Messages that can't be decoded are not from a router and are ignored.
func (r *Recorder) take(subjects events.Subjects, m *nats.Msg) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if name, err := subjects.EventName("event", m.Subject); err == nil {
		ev, _, err := events.Decode(name, m.Header, m.Data)
		if err != nil {
			return
		}
		id := wire.Get(m.Header, wire.HeaderChainID)
		r.chains[id] = len(r.records)
		r.records = append(r.records, Record{Event: ev, ChainID: id})
	} else {
		var body struct {
			Outcome
			ChainID string `json:"chain_id"`
		}
		if err := json.Unmarshal(m.Data, &body); err != nil {
			return
		}
		i, known := r.chains[body.ChainID]
		if !known {
			return
		}
		r.records[i].Outcome = &body.Outcome
	}
	close(r.changed)
	r.changed = make(chan struct{})
}

// Events returns the records so far, in the order in which the router took the events.
func (r *Recorder) Events() []Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.records)
}

// WaitFor waits for a record for which is returns true, and returns the first one, which may exist
// already. is is called again for a record when its outcome arrives. The error says that ctx ended,
// and lists what was recorded until then.
func (r *Recorder) WaitFor(ctx context.Context, is func(Record) bool) (Record, error) {
	for {
		r.mu.Lock()
		records, changed := slices.Clone(r.records), r.changed
		r.mu.Unlock()
		if i := slices.IndexFunc(records, is); i >= 0 {
			return records[i], nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Record{}, fmt.Errorf("wait for an event: %w: %d were recorded, none of them this one", context.Cause(ctx), len(records))
		}
	}
}
