package policy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/workerfiles"
	"github.com/hookrouter/hookrouter/internal/evaluate"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// replayOpen opens the resources of a replay, and closes them.
type replayOpen struct {
	*ReplayCmd
	*cli.Env
	closing []func() // called in reverse order
}

func (o *replayOpen) close() {
	for _, done := range slices.Backward(o.closing) {
		done()
	}
}

// source opens the source of the recorded chains.
func (o *replayOpen) source(ctx context.Context, filter evaluate.RecordingFilter) (evaluate.Source, error) {
	switch o.Export {
	case "":
		log, _, err := o.AuditLog(ctx)
		if err != nil {
			return nil, err
		}
		return evaluate.FromLog(log, filter), nil
	case "-":
		return evaluate.FromExport(o.Stdin, filter), nil
	}
	file, err := os.Open(o.Export)
	if err != nil {
		return nil, fmt.Errorf("read the export: %w", err)
	}
	o.closing = append(o.closing, func() { _ = file.Close() })
	return evaluate.FromExport(file, filter), nil
}

// twoRoles says what to do if one of the roles that a replay needs is missing.
const twoRoles = "a keeper reads the log and an admin calls hooks: with --creds of only one, run `hookctl audit export FILE` as keeper, then " +
	"`hookctl audit replay --export FILE` as admin; " + cli.Renew

// policy opens the policy that decides the replayed events.
func (o *replayOpen) policy() (evaluate.Policy, error) {
	if o.Worker != "" {
		return o.filePolicy()
	}
	admin := o.As("admin") // a keeper may read the log, but call no hooks
	o.closing = append(o.closing, admin.Close)
	b, err := admin.Connect()
	if err != nil {
		return nil, err
	}
	live := evaluate.NewLive(b, o.AsIfEnforced)
	lost := cli.Disconnected(errors.New("the connection to NATS was lost: what hooks would have said is not known"))
	return func(ctx context.Context, c *evaluate.Recording) (evaluate.Outcome, error) {
		ctx, stop := b.UntilLost(ctx, lost)
		defer stop()
		outcome, err := live.Replay(ctx, c)
		if errors.Is(err, natsx.ErrDisconnected) { // the connection was lost before this chain
			err = lost
		}
		return outcome, err
	}, nil
}

// filePolicy opens the policy of a worker file.
func (o *replayOpen) filePolicy() (evaluate.Policy, error) {
	file, err := workerfiles.Loader(o.Worker, o.RunAll, o.Stderr)(kind.Worker{})
	if err != nil {
		return nil, err
	}
	o.closing = append(o.closing, file.Close)
	options := evaluate.FilePolicyOptions{RunAll: o.RunAll, Acting: true, AsIfEnforced: o.AsIfEnforced, WithRecorded: o.WithRecorded}
	return evaluate.NewFilePolicy(file, options).Replay, nil
}
