package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/hookrouter/hookrouter/internal/hookfile/execkind"
)

// DefaultMaxOutput bounds what is kept of a program's output, in bytes.
const DefaultMaxOutput = 256 << 10

// pipeDelay is how long output is waited for once the program has ended or was
// killed: it only passes where a child left the group and holds the pipe.
const pipeDelay = 250 * time.Millisecond

// Command is a program that was found, and how it runs. The zero Command runs nothing.
type Command struct {
	// Program is the absolute path.
	Program string
	// Args are its arguments, without its name.
	Args []string
	// Dir is where it runs; empty means the working directory.
	Dir string
	// Env are variables beside execkind.DefaultEnv, as NAME=value.
	Env []string
	// Both takes the standard error into the output.
	Both bool
	// MaxOutput bounds the output, in bytes; 0 means [DefaultMaxOutput].
	MaxOutput int
}

// Output is what a program left.
type Output struct {
	Text []byte
	Code int  // the exit code
	Cut  bool // it printed more, and was killed; Code says nothing then
}

// Find returns the absolute path of a program: one with a slash is found from dir, any
// other in PATH. The error says what to do.
func Find(dir, name string) (string, error) {
	if name == "" {
		return "", errors.New("the name of a program is missing")
	}
	file := name
	if strings.Contains(name, "/") && !filepath.IsAbs(name) {
		file = filepath.Join(dir, name)
		if !strings.Contains(file, "/") {
			file = "./" + file
		}
	}
	path, err := exec.LookPath(file)
	switch {
	case err == nil || errors.Is(err, exec.ErrDot):
		return filepath.Abs(path)
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%s: no such program in PATH: install it, or give its whole path", name)
	case errors.Is(err, fs.ErrPermission):
		return "", fmt.Errorf("%s: it is not executable: chmod +x it", file)
	}
	return "", fmt.Errorf("%s: there is no such program", file)
}

// Run runs the program to its end. An exit code is no error; a signal, a program that
// can't be started and a context that is over are. When it returns, the program's
// process group is gone.
func (c Command) Run(ctx context.Context) (Output, error) {
	name := filepath.Base(c.Program)
	running, stop := context.WithCancel(ctx)
	defer stop()
	out := &bounded{left: c.MaxOutput, full: stop}
	if out.left == 0 {
		out.left = DefaultMaxOutput
	}
	cmd := exec.CommandContext(running, c.Program, c.Args...)
	cmd.Dir, cmd.Env, cmd.Stdout = c.Dir, environ(c.Env), out
	if c.Both {
		cmd.Stderr = out
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return killGroup(cmd) }
	cmd.WaitDelay = pipeDelay
	if err := cmd.Start(); err != nil {
		return Output{}, fmt.Errorf("run %s: %w", name, err)
	}
	err := cmd.Wait()
	_ = killGroup(cmd) // children that outlived it; mostly there are none
	result := Output{Text: out.bytes, Code: cmd.ProcessState.ExitCode(), Cut: out.cut}
	switch exit, isExit := errors.AsType[*exec.ExitError](err); {
	case out.cut, err == nil, errors.Is(err, exec.ErrWaitDelay):
		return result, nil
	case ctx.Err() != nil:
		return Output{}, fmt.Errorf("run %s: killed with its children: %w", name, context.Cause(ctx))
	case isExit && exit.Exited():
		return result, nil
	}
	return Output{}, fmt.Errorf("run %s: %w", name, err)
}

func environ(more []string) []string {
	env := make([]string, 0, len(execkind.DefaultEnv)+len(more))
	for _, name := range execkind.DefaultEnv {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return append(env, more...)
}

func killGroup(cmd *exec.Cmd) error {
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// bounded keeps the beginning of what is written, and calls full once where there is
// more. One goroutine writes; it is read when that one is done.
type bounded struct {
	bytes []byte
	left  int
	full  func()
	cut   bool
}

// Write never fails, so that the program is killed instead of told.
func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.left)
	b.left -= n
	b.bytes = append(b.bytes, p[:n]...)
	if n < len(p) && !b.cut {
		b.cut = true
		b.full()
	}
	return len(p), nil
}
