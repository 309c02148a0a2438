package dispatch

import (
	"cmp"
	"context"
	"time"

	"github.com/hookrouter/hookrouter/internal/freeze"
	"github.com/hookrouter/hookrouter/internal/sessionkey"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Request is an event as an endpoint decoded it.
type Request struct {
	Event    events.Event
	Object   events.Object // parsed data of the event
	Defaults events.Object // fields that hooks get if the data lacks them
	Timeout  time.Duration // for the chain; 0 means the default
	Emitter  string        // the proven sender; empty if the connection proves none

	// Wait is how long an execute waits for a person before it answers "pending". Retry means
	// that the event was sent before.
	Wait  time.Duration
	Retry bool

	Traceparent, Tracestate, Turn string // trace context; empty for none
	Baggage                       string // to pass on to hooks
}

// agent is the proven sender, or else the claimed one.
func (r Request) agent() string { return cmp.Or(r.Emitter, r.Event.Source) }

// owned returns the key of the session, which belongs to the sender if the sender is proven.
func (r Request) owned() string { return sessionkey.Of(r.Emitter, r.Event.Session) }

// event is an admitted request on its way through the stages.
type event struct {
	request   Request
	hooks     []*chain.Entry           // in execution order
	frozen    *freeze.Order            // the order that freezes it; nil for none
	pinned    []*chain.Entry           // the hooks among them that an operator pinned
	asker     *chain.Call              // the merged question of pinned guards; nil for none
	asking    []chain.Call             // the questions of the single guards, if there are several
	owned     string                   // key of the session; see [Request.owned]
	data      []byte                   // what the first hook gets
	defaulted bool                     // data has fields that were not sent
	late      []chain.ContextInjection // injections of earlier events that this verdict delivers
	lateWaits bool                     // late may be filled from the session
	ended     bool                     // its session was ended
	chainID   string
	timeout   time.Duration
	admitted  time.Time
	channel   Channel
	trace     *telemetry.Trace
	observed  telemetry.Chain // what the observer gets at the end
}

func (ev *event) name() string    { return ev.request.Event.Name }
func (ev *event) id() string      { return ev.request.Event.ID }
func (ev *event) session() string { return ev.request.Event.Session }
func (ev *event) sent() []byte    { return ev.request.Event.Data }

// forHooks is the event with the data that the first hook gets.
func (ev *event) forHooks() events.Event {
	out := ev.request.Event
	out.Data = ev.data
	return out
}

// admit checks an event against the limits, looks up its hooks and takes a slot of its session.
// The caller must release the event.
func (d *Dispatcher) admit(ctx context.Context, verb string, req Request, fallback time.Duration) (*event, error) {
	if n := len(req.Event.Data); n > d.opts.MaxData {
		return nil, d.TooLarge(n)
	}
	if n := attributes(req); n > maxAttributes {
		return nil, wire.Errorf(wire.TooLarge, "the event's attributes have %d bytes in total: at most %d are allowed", n, maxAttributes)
	}
	table, err := d.hooks.Table()
	if err != nil {
		return nil, err
	}
	if err := d.checkKnown(req.Event, table); err != nil {
		return nil, err
	}
	frozen, err := d.freezes.Frozen(req.agent(), req.Event.Session)
	if err != nil {
		return nil, err
	}
	var pinned []*chain.Entry
	if d.opts.Guards != nil && verb != verbCollect && frozen == nil {
		if pinned, err = d.opts.Guards.InForce(req.Event.Name, table); err != nil {
			return nil, err
		}
	}
	if err := d.claim(ctx, req); err != nil {
		return nil, err
	}
	if req.Event, err = d.stamp(req); err != nil {
		return nil, err
	}
	owned := req.owned()
	if err := d.takeSlots(req.Emitter, owned); err != nil {
		return nil, err
	}
	ev := d.newEvent(verb, req, table.For(req.Event.Name, req.Event.Session))
	ev.owned, ev.frozen, ev.pinned = owned, frozen, pinned
	ev.timeout = min(cmp.Or(req.Timeout, fallback), d.opts.ChainTimeout)
	if len(ev.hooks) > 0 && verb != verbCollect {
		ev.data = req.Object.Over(req.Defaults, events.Now())
		ev.defaulted = defaulted(req)
	}
	return ev, nil
}

// defaulted reports whether hooks get default fields besides the id of the event's session.
func defaulted(req Request) bool {
	for name := range req.Defaults.All() {
		if _, given := req.Object.Get(name); given || name == "timestamp" {
			continue
		}
		if id, _ := req.Defaults.GetString(name); name != "session_id" || id != req.Event.Session {
			return true
		}
	}
	return false
}

func (d *Dispatcher) newEvent(verb string, req Request, hooks []*chain.Entry) *event {
	ev := &event{request: req, hooks: hooks, data: req.Event.Data, chainID: events.NewID(), admitted: time.Now()}
	ev.trace = d.observer.Begin(ev.sender())
	ev.channel = d.transport.Open(ev.envelope())
	ev.observed = telemetry.Chain{
		Verb: verb, Event: ev.name(), Source: req.Event.Source, Session: ev.session(), EventID: ev.id(), ChainID: ev.chainID,
		Root: req.Event.Extensions[events.AttrRoot], Depth: ev.depth(), Came: ev.admitted, Outcome: &chain.Outcome{},
	}
	return ev
}

// sender returns what the request claims about its trace.
func (ev *event) sender() telemetry.Sender {
	s := telemetry.Sender{
		Traceparent: ev.request.Traceparent, Tracestate: ev.request.Tracestate, Session: ev.session(), ChainID: ev.chainID,
	}
	for _, field := range [...]string{"prompt_id", "turn_id"} {
		if s.Turn == "" {
			s.Turn, _ = ev.request.Object.GetString(field)
		}
	}
	s.Turn = cmp.Or(s.Turn, ev.request.Turn)
	return s
}

// maxAttributes bounds all attributes of an event, in bytes. Each hook call and each record repeats
// them, partly escaped.
const maxAttributes = 16 << 10

// attributes returns the size of a request's attributes, in bytes.
func attributes(req Request) int {
	ev := req.Event
	n := len(ev.ID) + len(ev.Source) + len(ev.Name) + len(ev.Session) + len(ev.Time) + len(req.Turn)
	for name, value := range ev.Extensions {
		n += len(name) + len(value)
	}
	return n
}

// Limits in bytes. Trace context and baggage beyond them is dropped.
const (
	maxTraceparent = 128
	maxTracestate  = 512
	maxBaggage     = 8 << 10 // the limit of the W3C specification
)

// envelope carries the router's own trace context if it traces, else the request's.
func (ev *event) envelope() Envelope {
	e := Envelope{Event: ev.request.Event, ChainID: ev.chainID, Traceparent: ev.request.Traceparent, Tracestate: ev.request.Tracestate}
	if ev.trace != nil {
		e.Traceparent, e.Tracestate = ev.trace.Header(), ev.trace.State()
	}
	if len(e.Traceparent) > maxTraceparent {
		e.Traceparent = ""
	}
	if e.Traceparent == "" || len(e.Tracestate) > maxTracestate {
		e.Tracestate = ""
	}
	if b := ev.request.Baggage; len(b) <= maxBaggage && telemetry.IsBaggage(b) {
		e.Baggage = b
	}
	return e
}

// traceparent returns the event's traceparent if it is well-formed, else an empty string.
func (ev *event) traceparent() string {
	if ev.trace != nil {
		return ev.trace.Header()
	}
	return telemetry.Traceparent(telemetry.Remote(context.Background(), ev.request.Traceparent, ""))
}

// TooLarge is the error for event data of n bytes.
func (d *Dispatcher) TooLarge(n int) error {
	return wire.Errorf(wire.TooLarge, "the data has %d bytes: at most %d are allowed", n, d.opts.MaxData)
}
