package policy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/evaluate/replay"
	"github.com/hookrouter/hookrouter/internal/natsx"
)

// replayOpen opens what a replay needs, and closes it.
type replayOpen struct {
	*ReplayCmd
	*cli.Env
	bus     *natsx.Conn // nil where nothing needed it yet
	closing []func()    // the last first
}

func (o *replayOpen) close() {
	for _, done := range slices.Backward(o.closing) {
		done()
	}
}

// dial connects, once.
func (o *replayOpen) dial() (_ *natsx.Conn, err error) {
	if o.bus == nil {
		if o.bus, err = o.Connect(); err != nil {
			return nil, err
		}
		o.closing = append(o.closing, o.bus.Close)
	}
	return o.bus, nil
}

// source opens what is replayed.
func (o *replayOpen) source(ctx context.Context, filter replay.Filter) (replay.Source, error) {
	switch o.Export {
	case "":
		b, err := o.dial()
		if err != nil {
			return nil, err
		}
		log, err := query.Open(ctx, b)
		if err != nil {
			return nil, err
		}
		return replay.FromLog(log, filter), nil
	case "-":
		return replay.FromExport(o.Stdin, filter), nil
	}
	file, err := os.Open(o.Export)
	if err != nil {
		return nil, fmt.Errorf("read the export: %w", err)
	}
	o.closing = append(o.closing, func() { _ = file.Close() })
	return replay.FromExport(file, filter), nil
}

// policy opens what decides anew.
func (o *replayOpen) policy(ctx context.Context) (replay.Policy, error) {
	if o.Worker != "" {
		w, err := o.startWorker(ctx)
		if err != nil {
			return nil, err
		}
		o.closing = append(o.closing, w.Close)
		return w.Replay, nil
	}
	b, err := o.dial()
	if err != nil {
		return nil, err
	}
	live := replay.NewLive(b, o.AsIfEnforced)
	lost := cli.Disconnected(errors.New("the connection to NATS was lost: what hooks would have said is not known"))
	return func(ctx context.Context, c *replay.Chain) (replay.Outcome, error) {
		ctx, stop := b.UntilLost(ctx, lost)
		defer stop()
		outcome, err := live.Replay(ctx, c)
		if errors.Is(err, natsx.ErrDisconnected) { // lost before this chain began
			err = lost
		}
		return outcome, err
	}, nil
}

// startWorker starts the process that runs a worker file.
func (o *replayOpen) startWorker(ctx context.Context) (*replay.Worker, error) {
	program, err := hookWorker(o.HookWorker)
	if err != nil {
		return nil, err
	}
	args := []string{"replay", o.Worker, fmt.Sprintf("--parallel=%d", o.Parallel), fmt.Sprintf("--as-if-enforced=%t", o.AsIfEnforced)}
	if o.RunAll {
		args = append(args, "--run-all")
	}
	return replay.StartWorker(ctx, replay.WorkerOptions{Program: program, Args: args, Recorded: o.WithRecorded, Stderr: cleanWriter{o.Stderr}})
}

// hookWorker is the path of hook-worker: the given one, that beside this program, or the
// one in PATH.
func hookWorker(given string) (string, error) {
	if given != "" {
		return given, nil
	}
	if own, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(own), "hook-worker")
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, nil
		}
	}
	path, err := exec.LookPath("hook-worker")
	if err != nil {
		return "", fmt.Errorf("find hook-worker, which runs worker files: %w: give its path with --hook-worker", err)
	}
	return path, nil
}

// cleanWriter passes on what another program says, without what moves a cursor.
type cleanWriter struct{ to io.Writer }

// Write implements io.Writer.
func (w cleanWriter) Write(text []byte) (int, error) {
	if _, err := io.WriteString(w.to, term.CleanLines(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}
