//go:build !linux

package supervisor

import "syscall"

// dieWithParent does nothing: a second process whose parent is gone ends when its time is
// over.
func dieWithParent() *syscall.SysProcAttr { return nil }
