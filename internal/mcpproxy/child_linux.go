package mcpproxy

import "syscall"

// attributes make a server the leader of a process group that dies with this process.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
