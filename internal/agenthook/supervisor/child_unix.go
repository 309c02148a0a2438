//go:build unix

package supervisor

import (
	"os"
	"syscall"
)

// child is the second process. Its id is not reused before wait.
type child struct{ pid int }

// start is os.StartProcess without its check of the kernel's features, which forks and waits for
// another process.
func start(program string, args, env []string, files ...*os.File) (child, error) {
	fds := make([]uintptr, len(files))
	for i, f := range files {
		fds[i] = f.Fd()
	}
	pid, err := syscall.ForkExec(program, args, &syscall.ProcAttr{Env: env, Files: fds, Sys: dieWithParent()})
	return child{pid}, err
}

func (c child) kill() { _ = syscall.Kill(c.pid, syscall.SIGKILL) }

// wait waits for the process and returns how it failed, for people; empty if it did not fail.
func (c child) wait() string {
	p, err := os.FindProcess(c.pid)
	if err != nil {
		return ""
	}
	return failure(p)
}
