//go:build unix

package process

import (
	"os"
	"syscall"
)

// readReady reads the available data of a pipe without waiting. It returns 0 or less if there is
// none.
func readReady(f *os.File, p []byte) (n int) {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0
	}
	_ = conn.Read(func(fd uintptr) bool {
		n, _ = syscall.Read(int(fd), p)
		return true
	})
	return n
}
