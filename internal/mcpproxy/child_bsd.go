//go:build unix && !linux

package mcpproxy

import "syscall"

// attributes make a server the leader of a process group. It ends with its input where this
// process is killed.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
