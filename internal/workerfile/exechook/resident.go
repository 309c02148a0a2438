package exechook

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/hookrouter/hookrouter/internal/process"
	"github.com/hookrouter/hookrouter/internal/process/resident"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// resident returns a hook whose command is kept running.
func (c *command) resident(s kind.Section) kind.Hook {
	program := c.program
	program.Env = process.Environ(c.env)
	running := resident.New(resident.Options{
		Program: program, InFlight: cap(c.slots), MaxLine: program.MaxOutput,
		Timeout: s.Registration.Timeout(), Startup: c.startup,
		Log: cmp.Or(s.Worker.Log, slog.New(slog.DiscardHandler)).With("hook", s.Registration.ID),
		Ready: func() error {
			if c.script == "" {
				return nil
			}
			return there(c.script)
		},
	})
	hook := kind.Hook{Acts: true, Start: running.Start, Close: running.Close, Handler: func(ctx context.Context, ev events.Event) (chain.Result, error) {
		answer, err := running.Ask(ctx, callDocument(ctx, ev))
		if err != nil {
			return chain.Result{}, fmt.Errorf("ask %s: %w", c.name, err)
		}
		result, err := kind.ParseAnswer(answer)
		if err != nil {
			return chain.Result{}, fmt.Errorf("ask %s: read its answer: %w", c.name, err)
		}
		return result, nil
	}}
	if c.script != "" {
		hook.Files = []string{c.script}
	}
	return hook
}

// callDocument returns the input of a resident command for a call. It includes what other commands
// get in their environment.
func callDocument(ctx context.Context, ev events.Event) []byte {
	call := worker.CallFrom(ctx)
	return document(ev, func(w *events.ObjectWriter) {
		w.Text("chain_id", call.ChainID)
		w.Text("mode", string(call.Mode))
		w.Text("traceparent", cmp.Or(call.Traceparent, ev.Extensions["traceparent"]))
		if deadline, bounded := ctx.Deadline(); bounded {
			w.Text("deadline", deadline.UTC().Format(time.RFC3339Nano))
		}
	})
}
