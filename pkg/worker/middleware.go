package worker

import (
	"context"
	"fmt"
	"slices"
)

// Middleware wraps a handler. It may inspect or change the event and the result, or return without
// calling next. Set it in [Options].
type Middleware func(next Handler) Handler

// wrap applies middleware to a handler; the first is the outermost.
func wrap(handler Handler, list []Middleware) Handler {
	for _, m := range slices.Backward(list) {
		handler = m(handler)
	}
	return handler
}

// Typed returns a [Handler] for a function that takes the event's data as a Go type, such as those
// of package events. Data that does not decode into T is a failure of the hook, and handle is not
// called. Integers beyond 2^53 are exact in an int64 or a json.RawMessage, but not in a float64 or
// an any. [EventFrom] returns the event itself.
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

// EventFrom returns the event that a [Typed] handler's context belongs to, or the zero Event for
// another context.
func EventFrom(ctx context.Context) Event {
	ev, _ := ctx.Value(eventKey{}).(Event)
	return ev
}
