//go:build unix && !linux

package mcpproxy

import "syscall"

// attributes make a server the leader of a process group. If this process is killed, the end
// of its input ends it.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
