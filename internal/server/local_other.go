//go:build !linux

package server

import "net"

// isOwn reports whether a process of this process's user is at the other end, which nobody knows
// here.
func isOwn(net.Conn) bool { return false }
