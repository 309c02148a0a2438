package mcpproxy

import "syscall"

// attributes returns the attributes that make a server the leader of a process group, and kill the
// server if this process dies.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
