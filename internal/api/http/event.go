package httpapi

import (
	"context"
	"maps"
	"net/http"
	"strings"

	"github.com/hookrouter/hookrouter/internal/api/agentapi"
	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// headerSession is the header that names the session of an event in plain form whose data does not
// name it.
const headerSession = "Hook-Session-Id"

// event answers POST /v1/VERB/{event}.
func (c *call) event(verb string) error {
	in, err := c.readEvent()
	if err != nil {
		return err
	}
	stream := verb == "execute" && c.wantsStream()
	if stream {
		in.Wait = 0
	}
	o, err := c.decide(verb, func(ctx context.Context) (*dispatch.Answer, error) { return c.agents.Decide(ctx, verb, in) })
	switch {
	case err != nil:
		return err
	case stream:
		return c.stream(o)
	}
	return c.await(o)
}

// readEvent reads the event of a request.
func (c *call) readEvent() (in dispatch.Request, err error) {
	name := c.r.PathValue("event")
	if err := events.CheckName(name); err != nil {
		if dotted := strings.ReplaceAll(name, ".", ":"); dotted != name && events.CheckName(dotted) == nil {
			return in, wire.Errorf(wire.Malformed, "%v: did you mean %s?", err, dotted)
		}
		return in, wire.Errorf(wire.Malformed, "%v", err)
	}
	header, err := c.header()
	if err != nil {
		return in, err
	}
	body, err := c.read(c.agents.MaxBody())
	if err != nil {
		return in, err
	}
	if in, err = c.agents.ReadEvent(name, c.sender, c.preferred(header), body); err != nil {
		return in, err
	}
	if session := events.Unescape(c.r.Header.Get(headerSession)); session != "" {
		if in.Event.Session != "" && in.Event.Session != session {
			return in, wire.Errorf(wire.Malformed, "the event has another session than the header %s: give one of them", headerSession)
		}
		if err := events.CheckSession(session); err != nil {
			return in, wire.Errorf(wire.Malformed, "%v", err)
		}
		in.Event.Session = session
	}
	return in, nil
}

// outcome is the answer to a request.
type outcome struct {
	header wire.Header
	body   []byte
	later  <-chan []byte // nil if body is the answer; else it delivers the body once a person has decided
	sent   func(error)   // call it once body was sent
}

// decide runs the decision of a request in a slot, which it releases while a person is asked. A
// sender whose access ended meanwhile gets no answer.
func (c *call) decide(verb string, decide func(context.Context) (*dispatch.Answer, error)) (*outcome, error) {
	ctx, end, err := c.agents.Begin()
	if err != nil {
		return nil, err
	}
	ended := false
	defer func() {
		if !ended { // it failed or panics
			end()
		}
	}()
	answer, err := decide(ctx)
	if err != nil {
		c.slowDown(err)
		return nil, err
	}
	ended = true
	o := &outcome{header: c.agents.Header(verb, answer), body: answer.Body}
	maps.Copy(o.header, wire.Echo(c.r.Header))
	if !answer.Pending() {
		o.sent = func(err error) { answer.Sent(err); end() }
		if err := c.valid(); err != nil {
			o.sent(err)
			return nil, wire.Errorf(http.StatusUnauthorized, "%v", err)
		}
		return o, nil
	}
	later := make(chan []byte, 1)
	answer.Await(func(body []byte) { later <- body })
	answer.Sent(nil)
	end()
	o.later, o.sent = later, func(error) {}
	return o, nil
}

// finish answers with the body of an outcome.
func (c *call) finish(o *outcome) error {
	maps.Copy(c.w.Header(), o.header)
	o.sent(c.write(http.StatusOK, o.body))
	return nil
}

func (c *call) write(code int, body []byte) error {
	setWriteDeadline(c.w)
	c.w.Header().Set("Content-Type", "application/json")
	c.w.WriteHeader(code)
	_, err := c.w.Write(append(body, '\n')) //nolint:gosec // it is JSON, and says so
	return err
}

// contributions answers POST /v1/contributions/{channel}.
func (c *call) contributions() error {
	channel := c.r.PathValue("channel")
	if err := events.CheckChannel(channel); err != nil {
		return wire.Errorf(wire.Malformed, "%v", err)
	}
	header, err := c.header()
	if err != nil {
		return err
	}
	in, err := c.agents.ReadHeader(c.sender, header)
	if err != nil {
		return err
	}
	o, err := c.decide("contributions", func(ctx context.Context) (*dispatch.Answer, error) { return c.agents.Contributions(ctx, channel, in) })
	if err != nil {
		return err
	}
	return c.finish(o)
}

// session answers POST /v1/session/….
func (c *call) session(do func(ctx context.Context, sender string, header wire.Header, data []byte) error) error {
	body, err := c.read(agentapi.MaxSmallBody)
	if err != nil {
		return err
	}
	ctx, end, err := c.agents.Begin()
	if err != nil {
		return err
	}
	defer end()
	if err := do(ctx, c.sender, wire.Header(c.r.Header), body); err != nil {
		return err
	}
	_ = c.write(http.StatusOK, []byte("{}")) // fails only if the client is gone
	return nil
}
