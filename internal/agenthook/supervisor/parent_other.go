//go:build !linux

package supervisor

import "syscall"

// dieWithParent has no effect here: without its parent, the second process ends at its timeout.
func dieWithParent() *syscall.SysProcAttr { return nil }
