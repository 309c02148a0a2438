package router

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// maxDefaults is the largest Hook-Defaults header, in bytes.
const maxDefaults = 8 << 10

// arrival is an event that was let in.
type arrival struct {
	events.Event
	sent    []byte         // the data as the agent sent it
	told    bool           // whether observers were told of it
	chainID string         // names this run of the chain
	links   []*chain.Entry // in execution order
	timeout time.Duration
	header  wire.Header // what every message about it carries: its attributes, the chain, the trace
	asked   wire.RequestHeader
	came    time.Time // when it was let in
	emitter string    // who sent it, as far as the connection proves
	seated  bool      // whether it holds a place of its session
	story
}

// admit is the door: it checks an event, finds its hooks and takes a slot of its
// session. verb is the request's, fallback the time where the agent named none.
func (r *Router) admit(verb string, req *natsx.Request, fallback time.Duration) (*arrival, error) {
	name, err := r.bus.EventName(verb, req.Subject)
	if err != nil {
		return nil, wire.Errorf(wire.Malformed, "%v", err)
	}
	if len(req.Data) > r.MaxData+headerRoom { // not worth parsing, whatever it is
		return nil, r.tooLarge(len(req.Data))
	}
	header := wire.ReadRequestHeader(req.Header)
	timeout, err := wire.Timeout(header.Timeout, fallback, r.ChainTimeout)
	if err != nil {
		return nil, err
	}
	table, err := r.registry.Table()
	if err != nil {
		return nil, err
	}
	ev, data, err := events.Decode(name, req.Header, req.Data)
	if err != nil {
		return nil, wire.Errorf(wire.Malformed, "%v", err)
	}
	if len(ev.Data) > r.MaxData {
		return nil, r.tooLarge(len(ev.Data))
	}
	defaults, err := defaultFields(header.Defaults)
	if err != nil {
		return nil, err
	}
	if err := r.sessions.enter(ev.Session); err != nil {
		return nil, err
	}
	a := &arrival{
		Event: ev, sent: ev.Data, chainID: events.NewID(), timeout: timeout,
		links: table.For(name, ev.Session), seated: true,
		asked: header, came: time.Now(), emitter: r.who(req),
	}
	r.follow(a, req, data)
	a.header = a.attributes(header)
	if r.ForwardBaggage {
		a.carry(wire.Get(req.Header, headerBaggage))
	}
	if verb != "collect" && len(a.links) > 0 {
		a.Data = data.Over(defaults, events.Now())
	}
	return a, nil
}

func (r *Router) tooLarge(n int) error {
	return wire.Errorf(wire.TooLarge, "the data has %d bytes: at most %d are allowed", n, r.MaxData)
}

func defaultFields(text string) (events.Object, error) {
	switch {
	case text == "":
		return events.Object{}, nil
	case len(text) > maxDefaults:
		return events.Object{}, wire.Errorf(wire.TooLarge, "%s has %d bytes: at most %d are allowed", wire.HeaderDefaults, len(text), maxDefaults)
	}
	defaults, err := events.ParseObject([]byte(text))
	if err != nil {
		return events.Object{}, wire.Errorf(wire.Malformed, "%s: %v", wire.HeaderDefaults, err)
	}
	return defaults, nil
}

// attributes are the headers of every message about the event: its own, the
// chain, and W3C trace context: the router's where it traces, else that of the request
// as it came; what is too long to be one is left out.
func (a *arrival) attributes(h wire.RequestHeader) wire.Header {
	out := make(wire.Header, 8)
	a.SetHeader(out)
	out[wire.HeaderChainID] = []string{a.chainID}
	if a.trace != nil {
		h.Traceparent, h.Tracestate = a.trace.Header(), a.trace.State()
	}
	if h.Traceparent != "" && len(h.Traceparent) <= 128 {
		out[wire.HeaderTraceparent] = []string{h.Traceparent}
		if h.Tracestate != "" && len(h.Tracestate) <= 512 {
			out[wire.HeaderTracestate] = []string{h.Tracestate}
		}
	}
	return out
}

// traceparent is that of the event, well-formed; empty for none.
func (a *arrival) traceparent() string {
	if a.trace != nil {
		return a.trace.Header()
	}
	return telemetry.Traceparent(telemetry.Remote(context.Background(), a.asked.Traceparent, ""))
}

const (
	headerBaggage = "baggage"
	maxBaggage    = 8 << 10 // in bytes, as W3C has it
)

// carry passes baggage on, unless it is too long or no baggage.
func (a *arrival) carry(baggage string) {
	if baggage == "" || len(baggage) > maxBaggage {
		return
	}
	if telemetry.IsBaggage(baggage) {
		a.header[headerBaggage] = []string{baggage}
	}
}

// sessions counts the requests under way of each session.
type sessions struct {
	limit int

	mu       sync.Mutex // guards inFlight
	inFlight map[string]int
}

// enter takes a slot of a session; an event without a session needs none.
func (s *sessions) enter(id string) error {
	if id == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inFlight == nil {
		s.inFlight = map[string]int{}
	}
	if s.inFlight[id] >= s.limit {
		return wire.Errorf(wire.Overloaded, "%d requests of this session are under way, which is the limit: try again later", s.limit)
	}
	s.inFlight[id]++
	return nil
}

func (s *sessions) leave(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inFlight[id]--; s.inFlight[id] <= 0 {
		delete(s.inFlight, id)
	}
}

// release gives the event's slot back, once.
func (r *Router) release(a *arrival) {
	if a.seated && a.Session != "" {
		r.sessions.leave(a.Session)
	}
	a.seated = false
}

// millis is a time in whole milliseconds, rounded up: nobody is to give up before
// the router does.
func millis(d time.Duration) string {
	return strconv.FormatInt(max((d+time.Millisecond-1).Milliseconds(), 1), 10)
}
