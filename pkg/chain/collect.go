package chain

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Collected is what one hook returned to [Collect].
type Collected struct {
	Entry   *Entry
	Skipped bool            // not called: its match was false
	Data    json.RawMessage // nil for none
	Err     error           // why there is no data: the hook failed or was too slow
	Start   time.Time       // of the call; zero without a call
	Took    time.Duration   // from the call to the answer
}

// Collect calls every enforced hook that wants the event concurrently, each with the caller's
// data, and returns what became of each in execution order. Actions do not matter and nothing is
// chained. timeout bounds each call, and so the whole; a hook's own timeout and on_failure do not
// apply.
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

// Scatter runs do(0) … do(n-1) concurrently and returns when all have returned.
func Scatter(n int, do func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { do(i) })
	}
	wg.Wait()
}

// Recovered is a [Caller] that turns a panic of the hook into its failure.
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

// InProcess is the [Caller] of hooks in this process. It recovers panics and checks results by
// the rules of [ParseResult], so that the engine decides the same wherever a hook runs. The hook
// runs in a goroutine of its own. One that ignores its context is left behind when its time is
// over, and its late answer is dropped.
func InProcess(ctx context.Context, entry *Entry, ev events.Event) (Result, error) {
	r, err := inProcess(ctx, entry, ev)
	if err != nil {
		return Result{}, err
	}
	return ParseResult(r.Append(nil))
}

// inProcess is InProcess for results of any type, including those of contributors.
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
