package evaluate

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ReplayOptions say how fast a replay goes.
type ReplayOptions struct {
	Parallel int     // how many chains at the same time; 0 means 1
	Rate     float64 // how many chains begin in a second at most; 0 for no limit
	Was      Policy  // what is compared with; nil for what was decided then
}

// Replayed is what came of one chain.
type Replayed struct {
	Chain   *Recording
	Refusal *Undecided // why it was not replayed; nil: it was, and the rest is set
	Was     Decision
	Would   Decision
	Differs string // what of it, see [DiffersInAction]; empty: nothing
	Calls   []Call // of the replay
}

// Replay takes the chains of a source through a policy and calls handle with what came of
// each, one after the other, in the order of the source. It ends with the first error
// of any of them that is no [*Undecided].
func Replay(ctx context.Context, source Source, policy Policy, o ReplayOptions, handle func(Replayed) error) error {
	type done struct {
		result Replayed
		err    error
	}
	return InOrder(ctx, o.Parallel, func(ctx context.Context, each func(*Recording) error) error {
		return source(ctx, paced(ctx, o.Rate, each))
	}, func(ctx context.Context, c *Recording) done {
		r, err := replayOne(ctx, c, o.Was, policy)
		return done{r, err}
	}, func(d done) error {
		if d.err != nil {
			return d.err
		}
		return handle(d.result)
	})
}

// replay takes one chain through a policy.
func replayOne(ctx context.Context, c *Recording, before, policy Policy) (Replayed, error) {
	r := Replayed{Chain: c}
	was, would, err := c.compare(ctx, before, policy)
	r.Refusal, err = undecidedOf(err)
	if err != nil || r.Refusal != nil {
		return r, err
	}
	r.Was, r.Would, r.Calls = was.Decision(c.Data), would.Decision(c.Data), would.Calls
	r.Differs = c.differ(was, would)
	return r, nil
}

// compare is what the chain came to, or would by the policy before, and what it would by
// another policy.
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

// refusalOf tells a refusal from what ends a replay.
func undecidedOf(err error) (*Undecided, error) {
	if refusal, ok := errors.AsType[*Undecided](err); ok {
		return refusal, nil
	}
	return nil, err
}

// paced calls each at most so often in a second.
func paced(ctx context.Context, rate float64, each func(*Recording) error) func(*Recording) error {
	if rate <= 0 {
		return each
	}
	next := time.Now()
	return func(c *Recording) error {
		timer := time.NewTimer(time.Until(next))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		next = time.Now().Add(time.Duration(float64(time.Second) / rate))
		return each(c)
	}
}

// InOrder does something with each item of a source, some at the same time, and calls
// handle with what came of it, one after the other, in the order of the source. It ends
// with the first error of the source or of handle, when all that was begun is done.
func InOrder[T, R any](ctx context.Context, parallel int, source func(context.Context, func(T) error) error,
	do func(context.Context, T) R, handle func(R) error,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	queue := make(chan chan R, max(parallel, 1)-1) // and one that handle waits for
	var wg sync.WaitGroup
	var read error
	wg.Go(func() {
		defer close(queue)
		read = source(ctx, func(item T) error {
			slot := make(chan R, 1)
			select {
			case queue <- slot:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			wg.Go(func() { slot <- do(ctx, item) })
			return nil
		})
	})
	var handled error
	for slot := range queue {
		r := <-slot
		if handled != nil {
			continue
		}
		if handled = handle(r); handled != nil {
			cancel()
		}
	}
	wg.Wait()
	if handled != nil {
		return handled
	}
	return read
}
