package web

import (
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
)

// CheckHost refuses requests that reach a loopback address under a name that [ServedAs] does not
// accept, for pages without a token. On other addresses the network decides who can read them, and
// services have other names. An address in place of a name never comes from DNS rebinding.
func CheckHost(hosts []string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if isLoopback(local) && !isAddress(r.Host) && !ServedAs(r, hosts) {
			http.Error(w, "this page is served under loopback names here, not as "+strconv.Quote(Clip(r.Host)), http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func isLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

func isAddress(host string) bool {
	_, err := netip.ParseAddrPort(host)
	if err != nil {
		_, err = netip.ParseAddr(strings.Trim(host, "[]"))
	}
	return err == nil
}

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
