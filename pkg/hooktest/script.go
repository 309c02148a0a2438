package hooktest

import (
	"context"
	"slices"
	"sync"

	"github.com/hookrouter/hookrouter/pkg/worker"
)

// Scripted is a hook with predefined answers that records its calls. It is safe for concurrent use.
// The zero value answers continue.
type Scripted struct {
	steps []worker.Handler

	mu    sync.Mutex // guards calls
	calls []worker.Event
}

// Script returns a hook that answers the n-th call with the n-th result, and further calls with the
// last one. Without results it answers continue.
func Script(results ...worker.Result) *Scripted {
	s := &Scripted{}
	for _, r := range results {
		s.steps = append(s.steps, func(context.Context, worker.Event) (worker.Result, error) { return r, nil })
	}
	return s
}

// ScriptFunc is like [Script] for hooks that do more than answer: fail, wait, panic, inspect the
// event.
func ScriptFunc(steps ...worker.Handler) *Scripted { return &Scripted{steps: steps} }

// Handle is the hook's [worker.Handler].
func (s *Scripted) Handle(ctx context.Context, ev worker.Event) (worker.Result, error) {
	s.mu.Lock()
	n := len(s.calls)
	s.calls = append(s.calls, ev)
	s.mu.Unlock()
	if len(s.steps) == 0 {
		return worker.Result{}, nil
	}
	return s.steps[min(n, len(s.steps)-1)](ctx, ev)
}

// Calls returns the events that the hook was called with, in order.
func (s *Scripted) Calls() []worker.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}
