//go:build unix

package supervisor

import (
	"os"
	"syscall"
)

// child is the second process. Its id is not given to another one before it is waited for.
type child struct{ pid int }

// start is os.StartProcess without its first step: to find out what the kernel can do, that
// one forks and waits for a process of its own.
func start(program string, args, env []string, files ...*os.File) (child, error) {
	fds := make([]uintptr, len(files))
	for i, f := range files {
		fds[i] = f.Fd()
	}
	pid, err := syscall.ForkExec(program, args, &syscall.ProcAttr{Env: env, Files: fds, Sys: dieWithParent()})
	return child{pid}, err
}

func (c child) kill() { _ = syscall.Kill(c.pid, syscall.SIGKILL) }

// wait returns how the process ended, as a person reads it; empty where that was no failure.
func (c child) wait() string {
	p, err := os.FindProcess(c.pid)
	if err != nil {
		return ""
	}
	return failure(p)
}
