package worker_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// logging writes a line for each call.
func logging(next worker.Handler) worker.Handler {
	return func(ctx context.Context, ev worker.Event) (worker.Result, error) {
		result, err := next(ctx, ev)
		fmt.Println(worker.CallFrom(ctx).Hook, "answered", ev.Name, "with", result.Action, "error:", err)
		return result, err
	}
}

// timing measures each call.
func timing(observe func(hook string, took time.Duration)) worker.Middleware {
	return func(next worker.Handler) worker.Handler {
		return func(ctx context.Context, ev worker.Event) (worker.Result, error) {
			defer func(began time.Time) { observe(worker.CallFrom(ctx).Hook, time.Since(began)) }(time.Now())
			return next(ctx, ev)
		}
	}
}

// recovering turns a panic into an error of the hook.
func recovering(next worker.Handler) worker.Handler {
	return func(ctx context.Context, ev worker.Event) (_ worker.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panicked: %v", p)
			}
		}()
		return next(ctx, ev)
	}
}

// Middleware wraps every handler of a worker; the first one is the outermost.
func ExampleMiddleware() {
	demo(func(ctx context.Context, client *hookrouter.Client) error {
		timed := 0
		count := timing(func(string, time.Duration) { timed++ })
		w, err := worker.New(client, worker.Options{Middleware: []worker.Middleware{logging, count, recovering}})
		if err != nil {
			return err
		}
		reg := worker.Registration{ID: "guard", Events: []string{events.ToolPre}}
		_, err = w.Register(ctx, reg, worker.Typed(func(_ context.Context, call events.ToolPreData) (worker.Result, error) {
			if call.ToolName == "Bash" {
				panic("no rule for it")
			}
			return worker.Deny("not this tool")
		}))
		for _, tool := range []string{"Read", "Bash"} {
			err = errors.Join(err, ask(ctx, client, events.ToolPreData{ToolName: tool}))
		}
		err = errors.Join(err, w.Close(ctx)) // waits for the calls
		fmt.Println(timed, "calls were timed")
		return err
	})
	// Output:
	// guard answered tool:pre with deny error: <nil>
	// Read: deny not this tool
	// guard answered tool:pre with  error: panicked: no rule for it
	// Bash: continue
	// 2 calls were timed
}

// A handler that takes the data of one event as its Go type.
func ExampleTyped() {
	demo(func(ctx context.Context, client *hookrouter.Client) error {
		w, err := worker.New(client, worker.Options{})
		if err != nil {
			return err
		}
		defer func() { _ = w.Close(ctx) }()
		reg := worker.Registration{ID: "no-web", Events: []string{events.ToolPre}, OnFailure: worker.FailClosed}
		_, err = w.Register(ctx, reg, worker.Typed(func(_ context.Context, call events.ToolPreData) (worker.Result, error) {
			if call.ToolName == "WebFetch" {
				return worker.Deny("no web for agents")
			}
			return worker.Continue()
		}))
		if err != nil {
			return err
		}
		return ask(ctx, client, events.ToolPreData{ToolName: "WebFetch"})
	})
	// Output: WebFetch: deny no web for agents
}
