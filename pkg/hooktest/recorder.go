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

// Record is one event that the router took, as observers see it.
type Record struct {
	// Event is the event with its data as the agent sent it.
	Event events.Event
	// ChainID names the run of the chain.
	ChainID string
	// Outcome is what the hooks decided; nil as long as they have not, and for an
	// event that was collected.
	Outcome *Outcome
}

// Outcome is how a chain went: the body of hooks.result.<event>.
type Outcome struct {
	Action   chain.Action `json:"action"`
	Reason   string       `json:"reason"`
	DeniedBy string       `json:"denied_by"` // the id of the hook that denied; empty where none did
	Hooks    []Hop        `json:"hooks"`     // in execution order
}

// Hop is what one hook of a chain did.
type Hop struct {
	ID         string        `json:"id"`
	Action     chain.Action  `json:"action"` // empty where it failed
	Micros     int64         `json:"us"`     // from the call to the answer, in microseconds
	Failure    chain.Failure `json:"failure"`
	FailedOpen bool          `json:"failed_open"` // it failed and was let pass
}

// Recorder remembers every event and every result that the router publishes for
// observers. It is safe for concurrent use.
type Recorder struct {
	mu      sync.Mutex // guards what follows
	records []Record
	chains  map[string]int // place in records by chain id
	changed chan struct{}  // closed and replaced with every change
}

// pending is how many messages wait for the recorder before the client library
// drops them.
const pending = 64 << 10

// Record starts to record; what is emitted from now on is seen, until the test
// ends.
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

// take remembers one message. What can't be read is no message of a router.
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

// Events returns what was recorded so far, in the order in which the router took
// it.
func (r *Recorder) Events() []Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.records)
}

// WaitFor waits for the first record, one that is there already included, for
// which is returns true. is sees a record again when its outcome comes. The error
// says that ctx ended, and what was recorded until then.
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
