package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

// The exit codes, as documented in docs/hookctl.md and in the help.
const (
	ExitOK           = 0
	ExitLocal        = 1
	ExitDenied       = 2
	ExitRefused      = 3
	ExitDisconnected = 4
	ExitAsk          = 5
	ExitPending      = 6
	ExitClosed       = 7
)

// disconnectedError says that NATS can't be reached or used.
type disconnectedError struct{ error }

// Unwrap returns the cause.
func (e disconnectedError) Unwrap() error { return e.error }

// Disconnected marks err as a connection error: hookctl exits with [ExitDisconnected].
func Disconnected(err error) error { return disconnectedError{err} }

// Reason returns err, or why the command ended early.
func Reason(ctx context.Context, err error) error {
	var disconnected disconnectedError
	switch {
	case errors.As(context.Cause(ctx), &disconnected):
		return disconnected
	case errors.Is(err, context.DeadlineExceeded):
		return Disconnected(fmt.Errorf("%w: no answer in time: `hookctl explain` shows which hooks are asked; emit and collect take --timeout", err))
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return errors.New("interrupted")
	}
	return err
}

// StopCause returns why a command that runs until interrupted ended, or nil if it was interrupted.
func StopCause(ctx context.Context) error {
	if disconnected, ok := errors.AsType[disconnectedError](context.Cause(ctx)); ok {
		return disconnected
	}
	return nil
}

func exitOf(err error) int {
	var closed closedError
	var refusal *wire.Error
	var disconnected disconnectedError
	switch {
	case errors.As(err, &closed):
		return ExitClosed
	case errors.As(err, &refusal):
		return ExitRefused
	case errors.As(err, &disconnected):
		return ExitDisconnected
	}
	for _, gone := range [...]error{
		hookrouter.ErrNoRouter, hookrouter.ErrConnectionLost, hookrouter.ErrDisconnected, hookrouter.ErrPermission,
		nats.ErrNoResponders, nats.ErrConnectionClosed, nats.ErrDisconnected,
	} {
		if errors.Is(err, gone) {
			return ExitDisconnected
		}
	}
	return ExitLocal
}

// closedError is the rejection of an answer that came too late. Nothing changed.
type closedError struct{ error }

// Unwrap returns the cause.
func (e closedError) Unwrap() error { return e.error }

// ClosedOr marks err if it rejects an answer that came too late: hookctl then exits with
// [ExitClosed].
func ClosedOr(err error) error {
	if code := hookrouter.CodeOf(err); code == hookrouter.CodeConflict || code == hookrouter.CodeGone {
		return closedError{err}
	}
	return err
}
