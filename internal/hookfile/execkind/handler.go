package execkind

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// pipeDelay is how long output is waited for once the command has ended or was
// killed: it only passes where a child left the group and holds the pipe.
const pipeDelay = 250 * time.Millisecond

// errTooMuch ends a command whose standard output is too long.
var errTooMuch = errors.New("the output is too long")

// command is a checked Config; immutable but for slots.
type command struct {
	program   string   // absolute path
	args      []string // as configured, the program first
	dir       string   // absolute path
	env       []string // names
	set       []string // further variables, name=value
	maxOutput int
	speak     dialect
	slots     chan struct{} // one element for each command that runs
}

func (c *command) handle(ctx context.Context, ev events.Event) (chain.Result, error) {
	talk, err := c.speak(ev)
	if err != nil {
		return chain.Result{}, fmt.Errorf("write the event for %s: %w", c.args[0], err)
	}
	if talk == nil {
		return chain.Result{}, nil
	}
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return chain.Result{}, fmt.Errorf("run %s: all %d slots are taken: %w", c.args[0], cap(c.slots), ctx.Err())
	}
	out, complaint, err := c.run(ctx, ev, talk.input())
	if failure, ok := errors.AsType[*Failure](err); ok && failure.code != 0 {
		if result, ok := talk.exited(failure.code, complaint); ok {
			return result, nil
		}
	}
	if err != nil {
		return chain.Result{}, fmt.Errorf("run %s: %w", c.args[0], err)
	}
	result, err := talk.answered(out)
	if err != nil {
		return chain.Result{}, fmt.Errorf("run %s: read its output: %w", c.args[0], err)
	}
	return result, nil
}

// run starts the command and returns its output and the beginning of its complaint.
// When it returns, the command's process group is gone.
func (c *command) run(ctx context.Context, ev events.Event, input []byte) (output, stderr []byte, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	out := &boundedBuffer{left: c.maxOutput, full: func() { stop(errTooMuch) }}
	complaint := &tail{}

	cmd := exec.CommandContext(ctx, c.program)
	cmd.Args = c.args
	cmd.Dir = c.dir
	cmd.Env = c.environ(worker.CallFrom(ctx), ev)
	cmd.Stdin = bytes.NewReader(input)
	cmd.Stdout, cmd.Stderr = out, complaint
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return killGroup(cmd) }
	cmd.WaitDelay = pipeDelay
	if err := cmd.Start(); err != nil {
		if errors.Is(err, syscall.ENOEXEC) {
			return nil, nil, fmt.Errorf("%w: a script begins with a line like #!/bin/sh", err)
		}
		return nil, nil, err
	}
	err = cmd.Wait()
	_ = killGroup(cmd) // children that outlived it; mostly there are none

	switch {
	case errors.Is(context.Cause(ctx), errTooMuch):
		return nil, nil, fmt.Errorf("%w: more than %d bytes, the limit max_output", errTooMuch, c.maxOutput)
	case err == nil || errors.Is(err, exec.ErrWaitDelay): // the command itself ended well
		return out.bytes, complaint.head, nil
	case ctx.Err() != nil:
		return nil, nil, &Failure{Stderr: complaint.firstLine(), Err: fmt.Errorf("killed with its children: %w", ctx.Err())}
	}
	code := max(cmd.ProcessState.ExitCode(), 0)
	return nil, complaint.head, &Failure{Stderr: complaint.firstLine(), Err: describe(err, complaint.lastLine()), code: code}
}

// Failure is a command that ended without an answer: with an exit code, by a
// signal, or killed when its time was over.
type Failure struct {
	Stderr string // the first line that it wrote to standard error, printable and cut; may be empty
	Err    error  // how it ended, with the last such line

	code int // the exit code; 0 where it was killed
}

// Error is how the command ended.
func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns how the command ended.
func (f *Failure) Unwrap() error { return f.Err }

// describe names the exit code, or the signal, and what the command said.
func describe(err error, complaint string) error {
	if complaint == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, complaint)
}

// killGroup kills the command and its children. The group's id is the command's,
// and is not used again while any of them lives.
func killGroup(cmd *exec.Cmd) error {
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// environ is the command's whole environment.
func (c *command) environ(call worker.Call, ev events.Event) []string {
	env := make([]string, 0, len(c.env)+len(c.set)+5)
	for _, name := range c.env {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	env = append(env, c.set...)
	env = append(env, "HOOK_EVENT="+ev.Name, "HOOK_SESSION_ID="+ev.Session, "HOOK_EVENT_ID="+ev.ID)
	if call.ChainID != "" {
		env = append(env, "HOOK_CHAIN_ID="+call.ChainID)
	}
	if trace := cmp.Or(call.Traceparent, ev.Extensions["traceparent"]); trace != "" {
		env = append(env, "TRACEPARENT="+trace)
	}
	return env
}
