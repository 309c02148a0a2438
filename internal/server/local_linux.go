package server

import (
	"net"
	"os"
	"syscall"
)

// isOwn reports whether a process of this process's user is at the other end.
func isOwn(c net.Conn) bool {
	unix, ok := c.(*net.UnixConn)
	if !ok {
		return false
	}
	raw, err := unix.SyscallConn()
	if err != nil {
		return false
	}
	var peer *syscall.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		peer, failed = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	return err == nil && failed == nil && int(peer.Uid) == os.Geteuid()
}
