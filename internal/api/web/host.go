package web

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// ServedAs reports whether the Host header is a loopback name, the address of the connection, or
// one of hosts: a name for any port, or a name with one. Other names may come from DNS
// rebinding.
func ServedAs(r *http.Request, hosts []string) bool {
	name, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		name = strings.Trim(r.Host, "[]")
	}
	if ip, err := netip.ParseAddr(name); strings.EqualFold(name, "localhost") || err == nil && ip.IsLoopback() {
		return true
	}
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && r.Host == local.String() {
		return true
	}
	for _, allowed := range hosts {
		if strings.EqualFold(allowed, r.Host) || strings.EqualFold(allowed, name) {
			return true
		}
	}
	return false
}
