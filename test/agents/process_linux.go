package agents

import (
	"os/exec"
	"syscall"
)

// endWithThis makes the kernel kill a command when this process ends. Call it from a locked thread.
func endWithThis(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// asGroup runs a command in its own process group, which is killed as a whole.
func asGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
