//go:build unix && !linux

package mcpproxy

import "syscall"

// attributes returns the attributes that make a server the leader of a process group. If this
// process is killed, the server gets the end of its input.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
