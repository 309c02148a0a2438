package exechook

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/process"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// command is a checked Config. It is immutable except for slots.
type command struct {
	program process.Program // the base of each run
	name    string          // as configured
	script  string          // absolute path of the script that the program runs; empty if unknown
	env     []string        // names of variables to pass on
	set     []string        // further variables, name=value
	dialect dialect
	slots   chan struct{} // one element for each running command
	startup time.Duration // of a resident command
}

// wants reports whether the command runs for an event.
func (c *command) wants(ev events.Event) bool {
	exchange, err := c.dialect(ev)
	return err != nil || exchange != nil
}

func (c *command) handle(ctx context.Context, ev events.Event) (chain.Result, error) {
	exchange, err := c.dialect(ev)
	if err != nil {
		return chain.Result{}, fmt.Errorf("write the event for %s: %w", c.name, err)
	}
	if exchange == nil {
		return chain.Result{}, nil
	}
	out, stderr, err := c.run(ctx, c.environ(worker.CallFrom(ctx), ev), exchange.input())
	if err != nil {
		return chain.Result{}, err
	}
	if out.Code != 0 {
		if result, ok := exchange.exited(out.Code, stderr.head); ok {
			return result, nil
		}
		return chain.Result{}, c.exited(out.Code, stderr)
	}
	result, err := exchange.answered(out.Text)
	if err != nil {
		return chain.Result{}, fmt.Errorf("run %s: read its output: %w", c.name, err)
	}
	return result, nil
}

// run runs the command once a slot is free. It returns the output, and what the command wrote to
// standard error.
func (c *command) run(ctx context.Context, env []string, input []byte) (process.Output, *excerpt, error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return process.Output{}, nil, fmt.Errorf("run %s: all %d slots are taken: %w", c.name, cap(c.slots), context.Cause(ctx))
	}
	if c.script != "" {
		if err := there(c.script); err != nil {
			return process.Output{}, nil, fmt.Errorf("run %s: %w", c.name, err)
		}
	}
	stderr := &excerpt{}
	program := c.program
	program.Env, program.Input, program.Stderr = env, input, stderr
	out, err := program.Run(ctx)
	switch {
	case ctx.Err() != nil && err != nil: // the last line of standard error is not the cause
		err = &Failure{Stderr: stderr.firstLine(), Err: err}
	case err != nil:
		err = &Failure{Stderr: stderr.firstLine(), Err: describe(err, stderr)}
	case out.Cut:
		err = fmt.Errorf("run %s: the output is too long: more than %d bytes, the limit max_output", c.name, program.MaxOutput)
	}
	return out, stderr, err
}

// exited returns the failure of a command that ended with an exit code other than 0.
func (c *command) exited(code int, stderr *excerpt) error {
	return &Failure{Stderr: stderr.firstLine(), Err: describe(fmt.Errorf("run %s: exit status %d", c.name, code), stderr)}
}

// Failure is the error of a command that ended without an answer: with an exit code, by a signal,
// or killed when its time was up.
type Failure struct {
	Stderr string // the first line of standard error, printable and cut; may be empty
	Err    error  // how the command ended, with the last such line
}

// Error returns how the command ended.
func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns how the command ended.
func (f *Failure) Unwrap() error { return f.Err }

// describe adds the last line of the command's standard error to an error.
func describe(err error, stderr *excerpt) error {
	if line := stderr.lastLine(); line != "" {
		return fmt.Errorf("%w: %s", err, line)
	}
	return err
}

// environ returns the complete environment of the command.
func (c *command) environ(call worker.Call, ev events.Event) []string {
	env := process.Environ(c.env, c.set...)
	env = append(env, "HOOK_EVENT="+ev.Name, "HOOK_SESSION_ID="+ev.Session, "HOOK_EVENT_ID="+ev.ID)
	if call.ChainID != "" { // a router called
		env = append(env, "HOOK_CHAIN_ID="+call.ChainID, "HOOK_MODE="+string(call.Mode))
	}
	if trace := cmp.Or(call.Traceparent, ev.Extensions["traceparent"]); trace != "" {
		env = append(env, "TRACEPARENT="+trace)
	}
	for i, variable := range env { // with a NUL the program would not start: an agent must not disable a hook that way
		env[i] = strings.ReplaceAll(variable, "\x00", "\ufffd")
	}
	return env
}
