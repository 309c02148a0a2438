package kind

import "net"

// Loopback reports whether the host of a URL is this machine. A hook may send secrets and events to
// it without TLS.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
