package agent

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// How an event is sent again.
const (
	// rejoinTimeout bounds an answer to an event that joins a question: no hook
	// runs for it, and a router that died is noticed so late at worst.
	rejoinTimeout = 4 * time.Second
	// rejoinWaitMS is how long a router then waits for a person, in milliseconds.
	rejoinWaitMS = "3000"
	// grace is how long after a question's time its decision is asked for.
	grace = time.Minute

	shortestPause = 50 * time.Millisecond
	longestPause  = time.Second
)

var errOverdue = errors.New("it was not decided within a minute after its time")

// inquiry is one event on its way to a verdict. Every try carries the same id
// and bytes.
type inquiry struct {
	agent    *Agent
	subject  string
	header   wire.Header
	body     []byte
	question *verdict.Approval // what a person is asked; nil as long as that is not known
	heard    time.Time         // when the question became known
	until    time.Time         // when to give up; zero as long as nothing went wrong
}

// decide asks until there is a verdict. The first tries do not wait for a person,
// so that a question is known as soon as there is one, and every wait from then
// on is short.
func (q *inquiry) decide(ctx context.Context) (Execution, error) {
	q.header[wire.HeaderWait] = []string{"1"}
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		began := time.Now()
		msg, err := q.try(ctx)
		if err == nil {
			x, err := readExecution(msg)
			if err != nil || x.Action != verdict.Pending {
				return x, err
			}
			q.join(*x.Approval)
		} else if wire.CodeOf(err) != 0 && !q.passing(err) {
			return Execution{}, err
		} else if !q.passing(err) {
			return Execution{}, q.giveUp(q.agent.explain(q.subject, err))
		}
		if time.Since(began) > longestPause { // there was a wait: that is pause enough
			pause = shortestPause
		}
		if err := q.rest(ctx, pause, err); err != nil {
			return Execution{}, err
		}
		q.header[wire.HeaderRetry] = []string{"1"}
	}
}

// try sends the event once.
func (q *inquiry) try(ctx context.Context) (*natsx.Message, error) {
	began, timeout := time.Now(), maxWait
	if q.question != nil {
		timeout = rejoinTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if q.question == nil {
		tellDeadline(ctx, q.header)
	}
	msg, err := q.agent.try(ctx, q.subject, q.header, q.body)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer came within %v: %w", time.Since(began).Round(time.Millisecond), err)
	}
	return msg, err
}

// join waits for the decision of a question from now on.
func (q *inquiry) join(question verdict.Approval) {
	if q.question == nil || q.question.ID != question.ID {
		q.heard = time.Now()
		if q.agent.OnPending != nil {
			q.agent.OnPending(question)
		}
	}
	q.question = &question
	q.header[wire.HeaderWait] = []string{rejoinWaitMS}
	expires, err := time.Parse(time.RFC3339, question.Expires)
	if err != nil {
		expires = q.heard
	}
	q.until = expires.Add(grace)
}

// rest waits before the next try. The error is the end of the inquiry: ctx ended,
// or it is too late for another try. cause is why the last one gave no verdict;
// nil where a person is still being asked.
func (q *inquiry) rest(ctx context.Context, pause time.Duration, cause error) error {
	if q.until.IsZero() {
		q.until = time.Now().Add(q.agent.Patience)
	}
	if ctx.Err() == nil && time.Now().Add(pause).After(q.until) {
		if cause == nil {
			cause = errOverdue
		}
		return q.giveUp(q.agent.explain(q.subject, cause))
	}
	select {
	case <-time.After(pause/2 + rand.N(pause/2)):
		return nil
	case <-ctx.Done():
	}
	if cause == nil || errors.Is(cause, ctx.Err()) {
		return q.giveUp(context.Cause(ctx))
	}
	return q.giveUp(fmt.Errorf("%w: %w", context.Cause(ctx), q.agent.explain(q.subject, cause)))
}

func (q *inquiry) giveUp(cause error) error {
	if q.question == nil {
		return cause
	}
	return &PendingError{*q.question, cause}
}

// passing reports whether to send the event again. Where a question is known,
// its decision will be, so nothing but a refusal of the event itself ends that.
// What ctx ended counts as passing too: the rest that follows tells it.
func (q *inquiry) passing(err error) bool {
	refusal, refused := errors.AsType[*Refusal](err)
	switch {
	case refused && q.question != nil:
		return refusal.Code == wire.Overloaded || refusal.Code >= wire.Internal
	case refused:
		return refusal.Code == wire.Unavailable
	}
	return passing(err) || errors.Is(err, ErrLost) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}
