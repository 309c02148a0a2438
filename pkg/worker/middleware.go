package worker

import (
	"context"
	"fmt"
	"slices"
)

// Middleware wraps a handler: it may look at the event and the result, change them,
// or answer without calling next. Give it to [New] in the Options.
type Middleware func(next Handler) Handler

// wrap applies middleware to a handler; the first is the outermost.
func wrap(handler Handler, list []Middleware) Handler {
	for _, m := range slices.Backward(list) {
		handler = m(handler)
	}
	return handler
}

// Typed makes a [Handler] of a function that takes the event's data as a Go type,
// mostly one of package events. Data that does not decode into T is an error of the
// hook, and handle is not called. Integers beyond 2^53 keep their digits where T allows
// it: an int64 or a json.RawMessage does, a float64 or an any does not.
// [EventFrom] returns the rest of the event.
func Typed[T any](handle func(ctx context.Context, in T) (Result, error)) Handler {
	return func(ctx context.Context, ev Event) (Result, error) {
		var in T
		if err := ev.Decode(&in); err != nil {
			return Result{}, fmt.Errorf("hook takes %T: %w", in, err)
		}
		return handle(context.WithValue(ctx, eventKey{}, ev), in)
	}
}

type eventKey struct{}

// EventFrom returns the event that a [Typed] handler's context belongs to; the zero
// Event for any other context.
func EventFrom(ctx context.Context) Event {
	ev, _ := ctx.Value(eventKey{}).(Event)
	return ev
}
