package hookcall

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Transport is a [dispatch.Transport] over a NATS connection.
type Transport struct {
	conn          *natsx.Conn
	maxReply      int
	onNoResponder func(hook string)
}

// New returns a transport. Replies of more than maxReply bytes are invalid results. onNoResponder
// is called for each call without a listening worker, and must not block; nil means no callback.
func New(conn *natsx.Conn, maxReply int, onNoResponder func(hook string)) *Transport {
	if onNoResponder == nil {
		onNoResponder = func(string) {}
	}
	return &Transport{conn, maxReply, onNoResponder}
}

// Open returns the channel for the messages about one event.
func (t *Transport) Open(e dispatch.Envelope) dispatch.Channel {
	h := make(wire.Header, 8+len(e.Event.Extensions))
	e.Event.SetHeader(h)
	set := func(name, value string) {
		if value != "" {
			h[name] = []string{value}
		}
	}
	set(wire.HeaderChainID, e.ChainID)
	set(wire.HeaderTraceparent, e.Traceparent)
	set(wire.HeaderTracestate, e.Tracestate)
	set(wire.HeaderBaggage, e.Baggage)
	return &channel{t, e.Event.Name, h}
}

// channel sends the messages about one event. Its header is not modified.
type channel struct {
	*Transport
	event  string
	header wire.Header
}

// PublishEvent publishes <prefix>.event.<event>.
func (c *channel) PublishEvent(data []byte) error {
	return c.conn.Publish(c.conn.Event("event", c.event), c.header, data)
}

// PublishResult publishes <prefix>.result.<event>; the body names the event.
func (c *channel) PublishResult(body []byte) error {
	return c.conn.Publish(c.conn.Event("result", c.event), nil, body)
}

// Notify publishes on the hook's call subject without expecting a reply.
func (c *channel) Notify(call dispatch.Call) error {
	return c.conn.Publish(c.conn.Call(call.Hook), c.callHeader(call), call.Data)
}

// Call calls a hook; see [Do]. If ctx is canceled, it notifies the worker that the answer is not
// needed.
func (c *channel) Call(ctx context.Context, call dispatch.Call) (dispatch.Reply, error) {
	header := c.callHeader(call)
	reply, err := Do(ctx, c.conn, call, header, c.maxReply)
	if errors.Is(err, chain.ErrNoResponder) {
		c.onNoResponder(call.Hook)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		_ = c.conn.Publish(c.conn.CallCancel(call.Hook), wire.Header{wire.HeaderCallID: header[wire.HeaderCallID]}, nil) // best effort: the call has a timeout anyway
	}
	return reply, err
}

func (c *channel) callHeader(call dispatch.Call) wire.Header {
	h := make(wire.Header, len(c.header)+3)
	maps.Copy(h, c.header)
	values := [...]string{rand.Text(), string(call.Mode), "", ""} // one allocation for all
	h[wire.HeaderCallID] = values[0:1:1]
	h[wire.HeaderMode] = values[1:2:2]
	if call.Timeout > 0 {
		values[2] = milliseconds(call.Timeout)
		h[wire.HeaderTimeout] = values[2:3:3]
	}
	if call.Labels != "" {
		h["ce-"+events.AttrLabels] = []string{call.Labels}
	}
	if call.Traceparent != "" {
		values[3] = call.Traceparent
		h[wire.HeaderTraceparent] = values[3:4:4]
	}
	return h
}

// milliseconds rounds up, so that no hook gives up before the router does.
func milliseconds(d time.Duration) string {
	return strconv.FormatInt(max((d+time.Millisecond-1).Milliseconds(), 1), 10)
}

// late is the error of a hook that did not answer before its timeout.
type late time.Duration

// Error returns a text like "no answer within 1.5s".
func (l late) Error() string {
	return fmt.Sprintf("no answer within %v", time.Duration(l).Round(time.Millisecond))
}

// Unwrap returns [context.DeadlineExceeded].
func (late) Unwrap() error { return context.DeadlineExceeded }

// Do calls a hook with the headers of the wire protocol and returns its reply. If the hook echoes,
// a reply without the id of the call is dropped. The reply contains the policy, if the worker named
// one, even with an error. The error wraps [chain.ErrNoResponder] if no worker listens,
// [chain.ErrInvalidResult] if the reply is too large or the hook's program returned an invalid one,
// and [context.DeadlineExceeded] if the time ended here or at the hook.
func Do(ctx context.Context, conn *natsx.Conn, call dispatch.Call, header wire.Header, maxReply int) (dispatch.Reply, error) {
	var accept func(wire.Header) bool
	if id := wire.Get(header, wire.HeaderCallID); call.Echoed {
		accept = func(reply wire.Header) bool { return wire.Get(reply, wire.HeaderCallID) == id }
	}
	reply, err := conn.RequestBound(ctx, conn.Call(call.Hook), header, call.Data, accept)
	answer := dispatch.Reply{}
	if reply != nil {
		answer.Policy = wire.Get(reply.Header, wire.HeaderPolicy)
	}
	switch code := wire.CodeOf(err); {
	case errors.Is(err, natsx.ErrNoResponders):
		return dispatch.Reply{}, chain.ErrNoResponder
	case errors.Is(err, natsx.ErrDisconnected), errors.Is(err, natsx.ErrConnectionLost):
		return dispatch.Reply{}, fmt.Errorf("%w: %w", dispatch.ErrConnection, err)
	case errors.Is(err, natsx.ErrMaxPayload):
		return dispatch.Reply{}, fmt.Errorf("%w: %w", dispatch.ErrCallTooLarge, err)
	case code == wire.Deadline, errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, natsx.ErrPermission):
		return answer, late(call.Timeout)
	case code == wire.InvalidResult:
		said := strings.TrimPrefix(wire.FromError(err).Text, chain.ErrInvalidResult.Error()+": ")
		return answer, fmt.Errorf("%w: %w", chain.ErrInvalidResult, wire.Errorf(code, "%s", said))
	case err != nil:
		return answer, err
	case len(reply.Data) > maxReply:
		return answer, fmt.Errorf("%w: it has %d bytes, at most %d are allowed", chain.ErrInvalidResult, len(reply.Data), maxReply)
	}
	answer.Body, answer.Rule = reply.Data, wire.Get(reply.Header, wire.HeaderRule)
	return answer, nil
}
