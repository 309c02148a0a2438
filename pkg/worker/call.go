package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/hookrouter/hookrouter/internal/natsx/service"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Event is the event that a handler gets.
type Event = events.Event

// Result is a handler's answer. The zero Result lets the event pass.
type Result = chain.Result

// Registration says which events a hook wants and how it is called.
type Registration = chain.Registration

// The values of a registration's OnFailure.
const (
	FailOpen   = chain.FailOpen   // skip the hook
	FailClosed = chain.FailClosed // deny the event
)

// Handler answers one event. ctx ends when the router stops waiting. An error is a failure of the
// hook, never a denial. Handler has the signature of chain.Hook.
type Handler = func(ctx context.Context, ev Event) (Result, error)

// Contributor returns its value for a channel, or nil for none.
type Contributor = func(ctx context.Context, channel string) (any, error)

// Continue lets the event pass.
func Continue() (Result, error) { return Result{}, nil }

// Deny forbids the operation. The agent sees the reason.
func Deny(format string, args ...any) (Result, error) {
	return chain.Denial(fmt.Sprintf(format, args...)), nil
}

// Modify replaces the event's data. data must marshal to a JSON object.
func Modify(data any) (Result, error) { return chain.Replace(data) }

// Inject adds text to the agent's context, as a system message.
func Inject(text string) (Result, error) { return chain.Injection(text), nil }

// Ask asks a person. Without options it offers Allow and Deny.
func Ask(prompt string, options ...string) (Result, error) {
	return chain.Question(prompt, options...), nil
}

// Call describes a call to a handler, besides the event.
type Call struct {
	Hook        string     // the id of the hook
	ChainID     string     // id of the run of the chain, the same for all of its hooks
	CallID      string     // id of this call
	Mode        chain.Mode // enforce, shadow, observe or async
	Traceparent string     // the W3C trace context, empty for none
	Tracestate  string
}

type callKey struct{}

// CallFrom returns the call that a handler's context belongs to, or the zero Call for another
// context.
func CallFrom(ctx context.Context) Call {
	call, _ := ctx.Value(callKey{}).(Call)
	return call
}

func callContext(ctx context.Context, id string, req *service.Request) (context.Context, context.CancelFunc, error) {
	h := req.Header
	timeout, err := wire.Timeout(wire.Get(h, wire.HeaderTimeout), chain.DefaultTimeout, chain.MaxTimeout)
	if err != nil {
		return nil, nil, err
	}
	call := Call{
		Hook: id, ChainID: wire.Get(h, wire.HeaderChainID), CallID: wire.Get(h, wire.HeaderCallID), Mode: chain.Mode(wire.Get(h, wire.HeaderMode)),
		Traceparent: wire.Get(h, wire.HeaderTraceparent),
	}
	if call.Traceparent != "" { // without it, a state says nothing
		call.Tracestate = wire.Get(h, wire.HeaderTracestate)
	}
	ctx = context.WithValue(ctx, callKey{}, call)
	if req.Waited >= timeout {
		return nil, nil, handlerError(timeOver(timeout))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout-req.Waited, timeOver(timeout))
	return ctx, cancel, nil
}

// timeOver is the cause of a context that ended with the time that the router gave the call.
type timeOver time.Duration

// Error returns a text like "context deadline exceeded: the hook had 1.5s".
func (t timeOver) Error() string {
	return fmt.Sprintf("%v: the hook had %v", context.DeadlineExceeded, time.Duration(t))
}

// Unwrap returns [context.DeadlineExceeded].
func (timeOver) Unwrap() error { return context.DeadlineExceeded }

// answer runs a hook's handler for one request from a router.
func answer(ctx context.Context, id string, req *service.Request, handler Handler) error {
	ctx, cancel, err := callContext(ctx, id, req)
	if err != nil {
		return err
	}
	defer cancel()
	ev, err := decode(req)
	if err != nil {
		return wire.Errorf(wire.Malformed, "%v", err)
	}
	ctx, span := begin(ctx, CallFrom(ctx), ev)
	defer span.End()
	result, err := handler(ctx, ev)
	answered(span, result, err)
	if policy := chain.CleanPolicy(result.Policy); policy != "" {
		req.SetReplyHeader(wire.HeaderPolicy, policy)
	}
	if err != nil {
		return handlerError(err)
	}
	return req.Reply(ruleHeader(result), encode(result))
}

// ruleHeader returns a header with the rule that decided, or nil if the handler names none.
func ruleHeader(r Result) wire.Header {
	if rule := chain.CleanRule(r.Rule); rule != "" {
		return wire.Header{wire.HeaderRule: {rule}}
	}
	return nil
}

// decode returns the event of a call. The router's headers name its session. The session_id in the
// data does not count: default fields or another hook may have changed it. A manual call without
// ce-* headers is decoded as the router would.
func decode(req *service.Request) (events.Event, error) {
	name := wire.Get(req.Header, "ce-type")
	if name == "" {
		ev, _, err := events.Decode(name, req.Header, req.Data)
		return ev, err
	}
	ev, _, err := events.Decode(name, req.Header, []byte("{}"))
	if err != nil {
		return events.Event{}, err
	}
	data, err := events.ParseObject(req.Data)
	ev.Data = data.Bytes()
	return ev, err
}

// contribution runs a contributor for one request from a router.
func contribution(ctx context.Context, id string, req *service.Request, contribute Contributor) error {
	ctx, cancel, err := callContext(ctx, id, req)
	if err != nil {
		return err
	}
	defer cancel()
	var body struct {
		Channel string `json:"channel"`
	}
	if err := json.Unmarshal(req.Data, &body); err != nil {
		return wire.Errorf(wire.Malformed, "the channel can't be read: %v", err)
	}
	ctx, span := begin(ctx, CallFrom(ctx), Event{Name: wire.Get(req.Header, "ce-type")})
	defer span.End()
	span.SetAttributes(attribute.String("hookrouter.channel", body.Channel))
	value, err := contribute(ctx, body.Channel)
	if err != nil {
		failed(span, err)
		return handlerError(err)
	}
	reply, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("write the contribution: %w", err)
	}
	return req.Reply(nil, reply)
}

// handlerError converts an error of a handler to a wire error.
func handlerError(err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return wire.Errorf(wire.Deadline, "%v", err)
	case errors.Is(err, chain.ErrInvalidResult):
		return wire.Errorf(wire.InvalidResult, "%v", err)
	}
	return wire.Errorf(wire.Internal, "%v", err)
}
