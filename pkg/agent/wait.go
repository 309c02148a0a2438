package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/clientconn"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// Timing of repeated events.
const (
	// rejoinTimeout bounds the wait for a reply to an event that joins an approval request. No
	// hooks run for it, so it is also the longest time until a dead router is noticed.
	rejoinTimeout = 4 * time.Second
	// rejoinWaitMS is how long the router waits for a person in that case, in milliseconds.
	rejoinWaitMS = "3000"
	// grace is how long Execute keeps asking for the decision after an approval request expired.
	grace = time.Minute
)

var errOverdue = errors.New("it was not decided within a minute after it expired")

// waiter gets the verdict on one event. Every attempt sends the same id and bytes.
type waiter struct {
	conn      *clientconn.Conn
	onPending func(verdict.Approval) // may be nil
	request   clientconn.Request
	pending   *verdict.Approval // the approval request; nil while none is known
	known     time.Time         // when the approval request became known
	backoff   clientconn.Backoff
}

// decide sends the event until it gets a verdict. The first attempts do not wait for a person, so
// that an approval request is known as soon as it exists. Later waits are short.
func (w *waiter) decide(ctx context.Context) (Execution, error) {
	w.request.Header[wire.HeaderWait] = []string{"1"}
	for {
		began := time.Now()
		msg, err := w.try(ctx)
		switch {
		case err == nil:
			x, err := readExecution(msg)
			if err != nil || x.Action != verdict.Pending {
				return x, err
			}
			w.join(*x.Approval)
		case hookrouter.CodeOf(err) != 0 && !w.temporary(err):
			return Execution{}, err
		case !w.temporary(err):
			return Execution{}, w.giveUp(err)
		}
		if time.Since(began) > clientconn.LongestPause { // the router already waited
			w.backoff.Reset()
		}
		if err := w.pause(ctx, err); err != nil {
			return Execution{}, err
		}
		w.request.Header[wire.HeaderRetry] = []string{"1"}
	}
}

// try sends the event once.
func (w *waiter) try(ctx context.Context) (*natsx.Message, error) {
	began, timeout := time.Now(), maxWait
	if w.pending != nil {
		timeout = rejoinTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if w.pending == nil {
		setTimeout(ctx, w.request.Header)
	}
	msg, err := w.conn.Request(ctx, w.request)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer came within %v: %w", time.Since(began).Round(time.Millisecond), err)
	}
	return msg, err
}

// join makes the following attempts wait for the decision of an approval request.
func (w *waiter) join(request verdict.Approval) {
	if w.pending == nil || w.pending.ID != request.ID {
		w.known = time.Now()
		if w.onPending != nil {
			w.onPending(request)
		}
	}
	w.pending = &request
	w.request.Header[wire.HeaderWait] = []string{rejoinWaitMS}
	expires, err := time.Parse(time.RFC3339, request.Expires)
	if err != nil {
		expires = w.known
	}
	w.backoff.Until = expires.Add(grace)
}

// pause waits before the next attempt. Its error is final: ctx ended, or it is too late to try
// again. cause is why the last attempt gave no verdict; nil while a person is being asked.
func (w *waiter) pause(ctx context.Context, cause error) error {
	if w.backoff.Until.IsZero() {
		w.backoff.Until = time.Now().Add(w.conn.Patience)
	}
	err := w.backoff.Wait(ctx)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, clientconn.ErrTooLate) && cause == nil:
		err = errOverdue
	case errors.Is(err, clientconn.ErrTooLate):
		err = cause
	case cause != nil && !errors.Is(cause, ctx.Err()):
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return w.giveUp(err)
}

func (w *waiter) giveUp(cause error) error {
	if w.pending == nil {
		return cause
	}
	return &PendingError{*w.pending, cause}
}

// temporary reports whether to send the event again. Once an approval request is known, only a
// rejection of the event is final: the decision will become available. The end of ctx counts as
// temporary because the following pause returns it.
func (w *waiter) temporary(err error) bool {
	switch code := hookrouter.CodeOf(err); {
	case code != 0 && w.pending != nil:
		return code == hookrouter.CodeOverloaded || code >= hookrouter.CodeInternal
	case code != 0:
		return code == hookrouter.CodeUnavailable
	}
	for _, e := range [...]error{
		hookrouter.ErrNoRouter, hookrouter.ErrDisconnected, hookrouter.ErrConnectionLost, context.DeadlineExceeded, context.Canceled,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
