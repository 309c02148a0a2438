package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/alecthomas/kong"
	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/approver"
)

// The exit codes, which docs/hookctl.md and the help promise.
const (
	exitOK      = 0
	exitLocal   = 1
	exitDenied  = 2
	exitRefused = 3
	exitAway    = 4
	exitAsk     = 5
	exitPending = 6
	exitClosed  = 7
)

const exitCodes = `
Exit codes:
  0  done; for emit and execute: continue
  1  wrong usage, or an error on this side; for validate: the hook breaks the contract; for test: one failed
  2  emit, execute: the event is denied
  3  the router refused the request; the message has its code
  4  no router answers, or NATS, or for trace Jaeger, can't be reached or does not permit it
  5  emit: a person must be asked
  6  execute: a person is asked and has not answered yet
  7  approvals answer: too late (decided or expired), or about other data; nothing changed
  8  audit replay --fail-on-diff: a decision would differ
  audit verify, check, witness: 0 witnessed, 10 pinned, 20 unanchored, 30 diverged, 40 invalid, 50 incomplete
`

func helpWithExitCodes(o kong.HelpOptions, ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(o, ctx); err != nil {
		return err
	}
	_, err := fmt.Fprint(ctx.Stdout, exitCodes)
	return err
}

// awayError says that the bus can't be reached or used.
type awayError struct{ error }

func (e awayError) Unwrap() error { return e.error }

// reason is err, or why the command was ended before that.
func reason(ctx context.Context, err error) error {
	var away awayError
	switch {
	case errors.As(context.Cause(ctx), &away):
		return away
	case errors.Is(err, context.DeadlineExceeded):
		return awayError{fmt.Errorf("%w: no answer in time: `hookctl explain` shows which hooks are asked; emit and collect take --timeout", err)}
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return errors.New("interrupted")
	}
	return err
}

// ended is why a command ended that runs until it is interrupted, nil for an
// interruption.
func ended(ctx context.Context) error {
	if away, ok := errors.AsType[awayError](context.Cause(ctx)); ok {
		return away
	}
	return nil
}

func exitOf(err error) int {
	var closed closedError
	var refusal *wire.Error
	var away awayError
	switch {
	case errors.As(err, &closed):
		return exitClosed
	case errors.As(err, &refusal):
		return exitRefused
	case errors.As(err, &away):
		return exitAway
	}
	for _, gone := range [...]error{
		agent.ErrNoRouter, agent.ErrLost, approver.ErrNoRouter, approver.ErrLost, natsx.ErrDisconnected,
		nats.ErrNoResponders, nats.ErrConnectionClosed, nats.ErrDisconnected,
	} {
		if errors.Is(err, gone) {
			return exitAway
		}
	}
	return exitLocal
}
