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

// DefaultMaxOutput is the default limit of a program's output, in bytes. The answer of a hook may
// quote all data of an event, even with each byte escaped.
const DefaultMaxOutput = 4 << 20

// pipeDelay is how long to wait for the end of the output after the program has exited or was
// killed. It passes only if a child has left the process group and keeps the pipe open.
const pipeDelay = 250 * time.Millisecond

// Program is a program and how to run it. The zero Program can't run.
type Program struct {
	// Path is the absolute path, as returned by [Find].
	Path string
	// Args are the arguments, without the program's name.
	Args []string
	// Dir is the working directory; empty means the one of this process.
	Dir string
	// Env is the complete environment, as NAME=value; see [Environ].
	Env []string
	// Input is the standard input; nil means empty.
	Input []byte
	// Stdin and Stdout replace Input and the captured output, for example with the ends of pipes. The
	// caller closes them. Nil means not used.
	Stdin, Stdout *os.File
	// Signals are sent to the program's process group while it runs; nil for none.
	Signals <-chan os.Signal
	// Stderr receives the standard error while the program runs, and should not fail; nil discards it.
	Stderr io.Writer
	// Both adds the standard error to the output instead.
	Both bool
	// MaxOutput limits the output, in bytes; 0 means [DefaultMaxOutput].
	MaxOutput int
}

// Output is the result of a program.
type Output struct {
	Text []byte
	Code int  // the exit code
	Cut  bool // the program exceeded MaxOutput and was killed; Code is meaningless
}

// Run runs the program until it exits. A non-zero exit code is not an error. A signal, a program
// that can't be started and an ended context are errors, which say what to do if that is known. The
// package documentation describes what happens to the program's children.
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

	runtime.LockOSThread() // the program is killed when the thread that started it ends
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return Output{}, fmt.Errorf("run %s: %w", p.Name(), notStarted(p.Path, err))
	}
	out.start()
	unsignaled := p.forward(cmd.Process.Pid)
	err = cmd.Wait()
	unsignaled()
	_ = killGroup(cmd.Process.Pid) // children that outlived the program; usually none
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

// forward forwards signals to the program's process group until stop is called. stop waits for the
// goroutine.
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
				_ = signalGroup(pid, sig) // fails if the program has just exited
			case <-ended:
				return
			}
		}
	}()
	return func() { close(ended); <-done }
}

// Name returns the program's file name, for people.
func (p Program) Name() string { return filepath.Base(p.Path) }
