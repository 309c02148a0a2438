package supervisor

import (
	"runtime"
	"syscall"
)

// dieWithParent ends the second process where the first one is killed: the signal comes
// when the thread that started it ends, so this goroutine stays on it.
func dieWithParent() *syscall.SysProcAttr {
	runtime.LockOSThread()
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
