//go:build !linux

package server

import "net"

// isOwn reports whether a process of this process's user is at the other end. This system does not
// report the peer, so all are refused.
func isOwn(net.Conn) bool { return false }
