package supervisor

import (
	"runtime"
	"syscall"
)

// dieWithParent makes the kernel kill the second process when the first one is killed. The signal
// is sent when the thread that started it ends, so it locks this goroutine to its thread.
func dieWithParent() *syscall.SysProcAttr {
	runtime.LockOSThread()
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
