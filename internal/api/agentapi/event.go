package agentapi

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/procs"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/events"
)

const (
	// HeaderRoom is the room in bytes for a message's headers and envelope besides the data.
	HeaderRoom = 32 << 10

	maxDefaults = 8 << 10 // bytes
	maxTimeout  = 24 * time.Hour
)

// MaxBody is the largest body of a request with an event, in bytes.
func (a *API) MaxBody() int { return a.o.MaxData + HeaderRoom }

// concurrentFrom is the number of requests in flight that justifies several processors. Two may be
// from one agent, whose last answer was sent a moment ago.
const concurrentFrom = 3

// Decide passes a request to the dispatcher. verb is emit, execute or collect.
func (a *API) Decide(ctx context.Context, verb string, in dispatch.Request) (*dispatch.Answer, error) {
	if len(a.InFlight) >= concurrentFrom {
		procs.Concurrent()
	}
	switch verb {
	case "emit":
		return a.Emit(ctx, in)
	case "execute":
		return a.Execute(ctx, in)
	case "collect":
		return a.Collect(ctx, in)
	}
	return nil, wire.Errorf(wire.NotFound, "there is no %q", verb)
}

// ReadEvent decodes a request about an event. sender is the proven sender.
func (a *API) ReadEvent(name, sender string, header wire.Header, data []byte) (dispatch.Request, error) {
	if len(data) > a.MaxBody() { // not worth parsing
		return dispatch.Request{}, a.TooLarge(len(data))
	}
	in, err := a.ReadHeader(sender, header)
	if err != nil {
		return in, err
	}
	if in.Event, in.Object, err = events.Decode(name, header, data); err != nil {
		return dispatch.Request{}, wire.Errorf(wire.Malformed, "%v", err)
	}
	return in, nil
}

// maxHeaders bounds all headers of a request, in bytes: they stay in memory while it is handled.
const maxHeaders = 64 << 10

// ReadHeader reads the headers of a request about an event.
func (a *API) ReadHeader(sender string, header wire.Header) (in dispatch.Request, err error) {
	h := wire.ReadRequestHeader(header)
	if h.Size > maxHeaders {
		return in, wire.Errorf(wire.TooLarge, "the headers have %d bytes in total: at most %d are allowed", h.Size, maxHeaders)
	}
	in = dispatch.Request{
		Emitter: sender, Retry: h.Retry == "1",
		Traceparent: h.Traceparent, Tracestate: h.Tracestate, Turn: h.Turn,
	}
	if in.Timeout, err = wire.Timeout(h.Timeout, 0, maxTimeout); err != nil {
		return in, err
	}
	if in.Wait, err = parseWait(h.Wait); err != nil {
		return in, err
	}
	if in.Defaults, err = parseDefaults(h.Defaults); err != nil {
		return in, err
	}
	if a.o.ForwardBaggage {
		in.Baggage = h.Baggage
	}
	return in, nil
}

// parseWait reads how long the reply to an execute may wait for a person.
func parseWait(text string) (time.Duration, error) {
	if text == "" {
		return dispatch.DefaultWait, nil
	}
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ms < 0 {
		return 0, wire.Errorf(wire.Malformed, "%s must be a whole number of milliseconds", wire.HeaderWait)
	}
	return time.Duration(min(ms, dispatch.MaxWait.Milliseconds())) * time.Millisecond, nil
}

func parseDefaults(text string) (events.Object, error) {
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

// Header returns the headers of an answer. verb is emit, execute, collect or contributions.
func (a *API) Header(verb string, answer *dispatch.Answer) wire.Header {
	h := make(wire.Header, 4)
	switch verb {
	case "emit", "execute":
		h[wire.HeaderEventID] = []string{events.Escape(answer.EventID)}
		h[wire.HeaderChainID] = []string{answer.ChainID}
		h[wire.HeaderCount] = []string{strconv.Itoa(answer.Called)}
		h[wire.HeaderAudit] = a.auditMode
	}
	set := func(name, value string) {
		if value != "" {
			h[name] = []string{value}
		}
	}
	set(wire.HeaderDeniedBy, answer.DeniedBy)
	set(wire.HeaderFailedOpen, strings.Join(answer.FailedOpen, ","))
	set(wire.HeaderFrom, strings.Join(answer.From, ","))
	set(wire.HeaderMissing, strings.Join(answer.Missing, ","))
	return h
}

// Sender returns the name that an identity with a label such as "agent/coder" has in events,
// records and sessions. It is the same for every transport.
func Sender(label string) string { return "nats " + label }
