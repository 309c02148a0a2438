//go:build unix

package mcpproxy

import (
	"os"
	"syscall"
)

// signalGroup sends a signal to the process group of a server.
func signalGroup(p *os.Process, s os.Signal) error {
	number, ok := s.(syscall.Signal)
	if !ok {
		number = syscall.SIGTERM
	}
	return syscall.Kill(-p.Pid, number)
}

// exitCode returns the exit code that a shell would report.
func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
