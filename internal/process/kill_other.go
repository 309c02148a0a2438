//go:build unix && !linux

package process

import "syscall"

// attributes returns the attributes that make a program the leader of a process group.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// killMarked does nothing: it is implemented only on Linux, which shows the environment of a
// process.
func killMarked(string) {}
