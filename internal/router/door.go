package router

import (
	"strconv"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/bus"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// maxDefaults is the largest Hook-Defaults header, in bytes.
const maxDefaults = 8 << 10

// arrival is an event that was let in.
type arrival struct {
	events.Event
	sent    []byte        // the data as the agent sent it
	told    bool          // whether observers were told of it
	chainID string        // names this run of the chain
	links   []*chain.Link // in execution order
	timeout time.Duration
	header  bus.Header // what every message about it carries: its attributes, the chain, the trace
	release func()     // gives the session's slot back; may be called twice
}

// admit is the door: it checks an event, finds its hooks and takes a slot of its
// session. verb is the request's, fallback the time where the agent named none.
func (r *Router) admit(verb string, req *bus.Request, fallback time.Duration) (*arrival, error) {
	name, err := r.bus.EventName(verb, req.Subject)
	if err != nil {
		return nil, bus.Refuse(bus.Malformed, "%v", err)
	}
	if len(req.Data) > r.MaxData+headerRoom { // not worth parsing, whatever it is
		return nil, r.tooLarge(len(req.Data))
	}
	timeout, err := bus.Timeout(req.Header, fallback, r.ChainTimeout)
	if err != nil {
		return nil, err
	}
	table, err := r.registry.Table()
	if err != nil {
		return nil, err
	}
	ev, data, err := events.Decode(name, req.Header, req.Data)
	if err != nil {
		return nil, bus.Refuse(bus.Malformed, "%v", err)
	}
	if len(ev.Data) > r.MaxData {
		return nil, r.tooLarge(len(ev.Data))
	}
	defaults, err := defaultFields(req.Header)
	if err != nil {
		return nil, err
	}
	release, err := r.sessions.enter(ev.Session)
	if err != nil {
		return nil, err
	}
	a := &arrival{
		Event: ev, sent: ev.Data, chainID: events.NewID(), timeout: timeout,
		links: table.For(name, ev.Session), release: release,
	}
	a.header = a.attributes(req.Header)
	if verb != "collect" && len(a.links) > 0 {
		a.Data = data.Over(defaults, events.Now())
	}
	return a, nil
}

func (r *Router) tooLarge(n int) error {
	return bus.Refuse(bus.TooLarge, "the data has %d bytes: at most %d are allowed", n, r.MaxData)
}

func defaultFields(h bus.Header) (events.Object, error) {
	text := bus.Get(h, bus.HeaderDefaults)
	switch {
	case text == "":
		return events.Object{}, nil
	case len(text) > maxDefaults:
		return events.Object{}, bus.Refuse(bus.TooLarge, "%s has %d bytes: at most %d are allowed", bus.HeaderDefaults, len(text), maxDefaults)
	}
	defaults, err := events.ParseObject([]byte(text))
	if err != nil {
		return events.Object{}, bus.Refuse(bus.Malformed, "%s: %v", bus.HeaderDefaults, err)
	}
	return defaults, nil
}

// attributes are the headers of every message about the event: its own, the
// chain, and the W3C trace context of the request as it came; what is too long to
// be one is left out.
func (a *arrival) attributes(h bus.Header) bus.Header {
	out := make(bus.Header, 8)
	a.SetHeader(out)
	out[bus.HeaderChainID] = []string{a.chainID}
	if v := bus.Get(h, bus.HeaderTraceparent); v != "" && len(v) <= 128 {
		out[bus.HeaderTraceparent] = []string{v}
		if v := bus.Get(h, bus.HeaderTracestate); v != "" && len(v) <= 512 {
			out[bus.HeaderTracestate] = []string{v}
		}
	}
	return out
}

// sessions counts the requests under way of each session.
type sessions struct {
	limit int

	mu       sync.Mutex // guards inFlight
	inFlight map[string]int
}

// enter takes a slot of a session; an event without a session needs none.
func (s *sessions) enter(id string) (release func(), err error) {
	if id == "" {
		return func() {}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inFlight == nil {
		s.inFlight = map[string]int{}
	}
	if s.inFlight[id] >= s.limit {
		return nil, bus.Refuse(bus.Overloaded, "%d requests of this session are under way, which is the limit: try again later", s.limit)
	}
	s.inFlight[id]++
	return sync.OnceFunc(func() { s.leave(id) }), nil
}

func (s *sessions) leave(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inFlight[id]--; s.inFlight[id] <= 0 {
		delete(s.inFlight, id)
	}
}

// millis is a time in whole milliseconds, rounded up: nobody is to give up before
// the router does.
func millis(d time.Duration) string {
	return strconv.FormatInt(max((d+time.Millisecond-1).Milliseconds(), 1), 10)
}
