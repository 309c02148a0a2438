package process

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// DefaultMaxOutput bounds what is kept of a program's output, in bytes.
const DefaultMaxOutput = 256 << 10

// pipeDelay is how long the end of the output is waited for once the program has ended or was
// killed. It passes only if a child left the group and holds the pipe.
const pipeDelay = 250 * time.Millisecond

// Program is a program that was found, and how it runs. The zero Program can't run.
type Program struct {
	// Path is the absolute path, as [Find] gives it.
	Path string
	// Args are its arguments, without its name.
	Args []string
	// Dir is where it runs; empty means the working directory.
	Dir string
	// Env is its whole environment, as NAME=value; see [Environ].
	Env []string
	// Input is what it reads; nil means nothing.
	Input []byte
	// Stdin and Stdout are what it reads and writes instead of Input and the output, such
	// as ends of pipes. They stay the caller's. Nil means that they are not used.
	Stdin, Stdout *os.File
	// Signals are sent to the program's process group while it runs; nil for none.
	Signals <-chan os.Signal
	// Stderr gets its standard error while it runs, and should not fail; nil discards it.
	Stderr io.Writer
	// Both takes the standard error into the output, instead.
	Both bool
	// MaxOutput bounds the output, in bytes; 0 means [DefaultMaxOutput].
	MaxOutput int
}

// Output is what a program left.
type Output struct {
	Text []byte
	Code int  // the exit code
	Cut  bool // it printed more than it may, and was killed; Code says nothing then
}

// Run runs the program to its end. An exit code is no error; a signal, a program that
// can't be started and a context that is over are, with what to do where that is known.
// What becomes of the program's children the package documentation says.
func (p Program) Run(ctx context.Context) (Output, error) {
	if err := supported(); err != nil {
		return Output{}, fmt.Errorf("run %s: %w", p.Name(), err)
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	out, err := newOutput(cmp.Or(p.MaxOutput, DefaultMaxOutput), stop)
	if err != nil {
		return Output{}, fmt.Errorf("run %s: %w", p.Name(), err)
	}
	defer out.close()
	mark := "HOOK_RUN=" + rand.Text()
	cmd := exec.CommandContext(running, p.Path, p.Args...)
	cmd.Dir, cmd.Env = p.Dir, append(slices.Clone(p.Env), mark)
	cmd.Stdout, cmd.Stderr = out.end, p.Stderr
	if p.Both {
		cmd.Stderr = out.end
	}
	if p.Input != nil {
		cmd.Stdin = bytes.NewReader(p.Input)
	}
	if p.Stdin != nil {
		cmd.Stdin = p.Stdin
	}
	if p.Stdout != nil {
		cmd.Stdout = p.Stdout
	}
	cmd.SysProcAttr = attributes()
	cmd.Cancel = func() error {
		err := killGroup(cmd.Process.Pid)
		killMarked(mark)
		return err
	}
	cmd.WaitDelay = pipeDelay

	runtime.LockOSThread() // a program dies with the thread that started it
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return Output{}, fmt.Errorf("run %s: %w", p.Name(), notStarted(p.Path, err))
	}
	out.start()
	unsignaled := p.forward(cmd.Process.Pid)
	err = cmd.Wait()
	unsignaled()
	_ = killGroup(cmd.Process.Pid) // children that outlived it; mostly there are none
	out.finish(pipeDelay)

	result := Output{Text: out.bytes, Code: cmd.ProcessState.ExitCode(), Cut: out.cut}
	switch exit, isExit := errors.AsType[*exec.ExitError](err); {
	case out.cut, err == nil, errors.Is(err, exec.ErrWaitDelay):
		return result, nil
	case ctx.Err() != nil:
		return Output{}, fmt.Errorf("run %s: killed with its children: %w", p.Name(), context.Cause(ctx))
	case isExit && exit.Exited():
		return result, nil
	}
	return Output{}, fmt.Errorf("run %s: %w", p.Name(), err)
}

// forward sends the program's signals to its process group until stop is called, which
// waits for that.
func (p Program) forward(pid int) (stop func()) {
	if p.Signals == nil {
		return func() {}
	}
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case sig := <-p.Signals:
				_ = signalGroup(pid, sig) // one that has just ended gets none
			case <-ended:
				return
			}
		}
	}()
	return func() { close(ended); <-done }
}

// Name is the program's file name, for people.
func (p Program) Name() string { return filepath.Base(p.Path) }
