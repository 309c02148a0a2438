package worker

import (
	"context"
	"errors"
	"log/slog"

	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

// Run connects to the NATS servers at url, registers one hook and serves it until ctx ends.
// Programs with more hooks use [hookrouter.Connect] and [New]. An empty url means
// nats://127.0.0.1:4222. Run logs to [slog.Default], also what the handler returns as an error.
func Run(ctx context.Context, url string, reg Registration, handler Handler) error {
	log := slog.Default()
	client, err := hookrouter.Connect(ctx, hookrouter.Options{URL: url, Role: hookrouter.RoleWorker, Name: "hook-worker", Log: log})
	if err != nil {
		return err
	}
	defer client.Close()
	w, err := New(client, Options{Middleware: []Middleware{logErrors(log)}})
	if err != nil {
		return err
	}
	if _, err := w.Register(ctx, reg, handler); err != nil {
		if ctx.Err() != nil { // ended before it was ready
			err = nil
		}
		return errors.Join(err, w.stop(ctx))
	}
	log.InfoContext(ctx, "hook registered", "hook", reg.ID)
	return w.Run(ctx)
}

// logErrors logs the errors of a handler: the author of a hook may not see the router's log.
func logErrors(log *slog.Logger) Middleware {
	return func(next Handler) Handler {
		return func(ctx context.Context, ev Event) (Result, error) {
			result, err := next(ctx, ev)
			if err != nil {
				log.WarnContext(ctx, "hook failed", "hook", CallFrom(ctx).Hook, "event", ev.Name, "error", err)
			}
			return result, err
		}
	}
}
