//go:build !linux

package server

import "net"

// isOwn reports whether a process of this process's user is at the other end. This system does not
// tell, so it refuses all.
func isOwn(net.Conn) bool { return false }
