package chain

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Collected is the outcome of one hook in [Collect].
type Collected struct {
	Entry   *Entry
	Skipped bool            // not called, since its match was false
	Data    json.RawMessage // nil if there is none
	Err     error           // why there is no data: the hook failed or timed out
	Start   time.Time       // of the call; zero if there was none
	Took    time.Duration   // from the call to the answer
}

// Collect calls all enforced hooks that match the event concurrently, each with the same data, and
// returns their outcomes in execution order. Actions are ignored, and no hook sees the result of
// another. timeout bounds all calls; a hook's own timeout and on_failure do not apply.
func Collect(ctx context.Context, entries []*Entry, ev events.Event, timeout time.Duration, call Caller) []Collected {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	view := ViewOf(ev)
	var list []Collected
	for _, entry := range entries {
		if !entry.Enforced() {
			continue
		}
		c := Collected{Entry: entry}
		if entry.Condition != nil {
			wanted, err := entry.Condition(view)
			c.Skipped, c.Err = err == nil && !wanted, err
		}
		list = append(list, c)
	}
	Scatter(len(list), func(i int) {
		c := &list[i]
		if c.Skipped || c.Err != nil {
			return
		}
		c.Start = time.Now()
		r, err := call(ctx, c.Entry, ev)
		c.Took, c.Data, c.Err = time.Since(c.Start), r.Data, err
	})
	return list
}

// Scatter calls do(0) … do(n-1) concurrently and returns when all calls have returned.
func Scatter(n int, do func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { do(i) })
	}
	wg.Wait()
}

// Recovered wraps a [Caller] to turn a panic of the hook into an error.
func Recovered(next Caller) Caller {
	return func(ctx context.Context, entry *Entry, ev events.Event) (r Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("hook %q panicked: %v", entry.ID, p)
			}
		}()
		return next(ctx, entry, ev)
	}
}

// InProcess is the [Caller] for hooks in this process. It recovers panics and applies the checks of
// [ParseResult], so that a chain decides the same wherever a hook runs. The hook runs in its own
// goroutine. If it ignores the end of its context, InProcess returns without it and drops its late
// answer.
func InProcess(ctx context.Context, entry *Entry, ev events.Event) (Result, error) {
	r, err := inProcess(ctx, entry, ev)
	if err != nil {
		return Result{}, err
	}
	return ParseResult(r.Append(nil))
}

// inProcess is InProcess without the checks, as contributors need it.
func inProcess(ctx context.Context, entry *Entry, ev events.Event) (Result, error) {
	type answer struct {
		result Result
		err    error
	}
	call := Recovered(func(ctx context.Context, l *Entry, ev events.Event) (Result, error) { return l.Hook(ctx, ev) })
	done := make(chan answer, 1)
	go func() {
		r, err := call(ctx, entry, ev)
		done <- answer{r, err}
	}()
	select {
	case a := <-done:
		return a.result, a.err
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
}
