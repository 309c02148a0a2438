package evaluate

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/time/rate"
)

// ReplayOptions configure a replay.
type ReplayOptions struct {
	Parallel int     // how many chains run concurrently; 0 means 1
	Rate     float64 // the maximum number of chains started per second; 0 means no limit
	Was      Policy  // the policy to compare with; nil means the recorded decisions
}

// Replayed is the result of one chain.
type Replayed struct {
	Chain   *Recording
	Refusal *Undecided // why it was not replayed; if nil, the fields below are set
	Was     Decision
	Would   Decision
	Differs string // how the decisions differ, see [DiffersInAction]; empty if they do not
	Calls   []Call // of the replay
}

// Replay runs the chains of a source through a policy, and calls handle with each result, one at a
// time, in the order of the source. It returns the first error that is not an [*Undecided].
func Replay(ctx context.Context, source Source, policy Policy, o ReplayOptions, handle func(Replayed) error) error {
	return InOrder(ctx, o.Parallel, func(ctx context.Context, each func(*Recording) error) error {
		return source(ctx, paced(ctx, o.Rate, each))
	}, func(ctx context.Context, c *Recording) (Replayed, error) {
		return replayOne(ctx, c, o.Was, policy)
	}, handle)
}

// replayOne runs one chain through a policy.
func replayOne(ctx context.Context, c *Recording, before, policy Policy) (Replayed, error) {
	r := Replayed{Chain: c}
	was, would, err := c.compare(ctx, before, policy)
	if refusal, ok := errors.AsType[*Undecided](err); ok {
		r.Refusal = refusal
		return r, nil
	}
	if err != nil {
		return r, err
	}
	r.Was, r.Would, r.Calls = was.Decision(c.Data), would.Decision(c.Data), would.Calls
	r.Differs = c.differ(was, would)
	return r, nil
}

// compare returns the outcome of the chain under the policy before, or as recorded if before is
// nil, and under another policy.
func (c *Recording) compare(ctx context.Context, before, policy Policy) (was, would Outcome, err error) {
	if c.refusal != nil {
		return was, would, c.refusal
	}
	if before == nil {
		before = func(ctx context.Context, c *Recording) (Outcome, error) { return c.Recorded(ctx) }
	}
	if was, err = before(ctx, c); err != nil {
		return was, would, err
	}
	would, err = policy(ctx, c)
	return was, would, err
}

// paced limits how often each is called per second; 0 means no limit.
func paced(ctx context.Context, perSecond float64, each func(*Recording) error) func(*Recording) error {
	if perSecond <= 0 {
		return each
	}
	limit := rate.NewLimiter(rate.Limit(perSecond), 1)
	return func(c *Recording) error {
		if err := limit.Wait(ctx); err != nil {
			return err
		}
		return each(c)
	}
}

// InOrder processes the items of a source concurrently, and calls handle with each result, one at a
// time, in the order of the source. It returns the first error of the source, of do or of handle,
// after everything that it started has ended.
func InOrder[T, R any](ctx context.Context, parallel int, source func(context.Context, func(T) error) error,
	do func(context.Context, T) (R, error), handle func(R) error,
) error {
	type outcome struct {
		result R
		err    error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	queue := make(chan chan outcome, max(parallel, 1)-1) // handle waits for one more
	var wg sync.WaitGroup
	var read error
	wg.Go(func() {
		defer close(queue)
		read = source(ctx, func(item T) error {
			slot := make(chan outcome, 1)
			select {
			case queue <- slot:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			wg.Go(func() {
				result, err := do(ctx, item)
				slot <- outcome{result, err}
			})
			return nil
		})
	})
	var handled error
	for slot := range queue {
		done := <-slot
		if handled != nil {
			continue
		}
		if handled = done.err; handled == nil {
			handled = handle(done.result)
		}
		if handled != nil {
			cancel()
		}
	}
	wg.Wait()
	if handled != nil {
		return handled
	}
	return read
}
