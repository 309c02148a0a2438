package agents

import (
	"os/exec"
	"syscall"
)

// endWithThis has a command killed where this process ends. Call it from a locked thread.
func endWithThis(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// asGroup makes a command, and what it starts, a group that ends as one.
func asGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
