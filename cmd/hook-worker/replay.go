package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/cli/workerfiles"
	"github.com/hookrouter/hookrouter/internal/evaluate"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// replayEvents runs events through the hooks of a file, without NATS.
type replayEvents struct {
	File         string `arg:"" type:"path" help:"The worker file."`
	Events       string `arg:"" optional:"" default:"-" type:"path" help:"File with one event a line: {\"event\":…,\"session_id\":…,\"source\":…,\"id\":…,\"data\":{…}}; - reads the standard input."`
	RunAll       bool   `help:"Also run commands whose hook is not replay_safe, which repeats their side effects."`
	AsIfEnforced bool   `default:"true" negatable:"" help:"Count shadow hooks as if they were enforced; --no-as-if-enforced leaves them out."`
	Parallel     int    `default:"4" placeholder:"N" help:"How many events run at the same time."`
}

// decided is a line of the output.
type decided struct {
	*evaluate.Outcome
	Refused *evaluate.Undecided `json:"refused,omitempty"` // instead
}

// refusedOr returns the line for an event that could not be decided. Any other error ends the run.
func refusedOr(err error) (decided, error) {
	if refused, ok := errors.AsType[*evaluate.Undecided](err); ok {
		return decided{Refused: refused}, nil
	}
	return decided{}, err
}

// Run writes the decision for each event as one line of JSON, in the order of the events.
func (c replayEvents) Run(ctx context.Context, p process) error {
	file, err := workerfiles.Loader(c.File, c.RunAll, p.stderr)(kind.Worker{})
	if err != nil {
		return err
	}
	defer file.Close()
	policy := evaluate.NewFilePolicy(file, evaluate.FilePolicyOptions{RunAll: c.RunAll, Acting: true, AsIfEnforced: c.AsIfEnforced})
	in, err := workerfiles.OpenEvents(c.Events, p.stdin)
	if err != nil {
		return err
	}
	defer in.Close()
	out := json.NewEncoder(p.stdout)
	out.SetEscapeHTML(false)
	err = evaluate.InOrder(ctx, c.Parallel, func(ctx context.Context, each func(evaluate.Sample) error) error {
		err := evaluate.ReadEvents(ctx, c.Events, in, each)
		if errors.Is(err, evaluate.ErrNoEvents) {
			return nil
		}
		if _, ok := errors.AsType[*evaluate.ReadError](err); ok {
			return workerfiles.InputError(err)
		}
		return err
	}, func(ctx context.Context, s evaluate.Sample) (decided, error) {
		if s.Err != nil {
			return refusedOr(s.Err)
		}
		outcome, err := policy.Decide(ctx, s.Event)
		if err != nil {
			return refusedOr(err)
		}
		return decided{Outcome: &outcome}, nil
	}, func(line decided) error {
		if err := out.Encode(line); err != nil {
			return fmt.Errorf("write the decision: %w", err)
		}
		return nil
	})
	if ctx.Err() != nil {
		return errors.New("interrupted before the last event")
	}
	return err
}
