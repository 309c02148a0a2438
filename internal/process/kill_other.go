//go:build unix && !linux

package process

import "syscall"

// attributes make a program the leader of a process group.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// killMarked does nothing: other systems don't show the environment of a process.
func killMarked(string) {}
