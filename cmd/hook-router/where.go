package main

import (
	"cmp"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// defaultPort is the port of NATS servers.
const defaultPort = "4222"

// locate decides which NATS server to use if neither --nats-url nor HOOK_ROUTER_NATS_URL names
// one: NATS_URL, as in all other programs, with NATS_CREDS. A server is started here if a flag
// of the embedded server is given, if NATS_URL is the address on which it would listen, and by
// up and the demo.
func (s *serve) locate(command *kong.Context, getenv func(string) string) {
	at := getenv("NATS_URL")
	if s.NATSURL != "" || at == "" {
		return
	}
	for _, p := range command.Path {
		if p.Flag != nil && slices.Contains(embeddedFlags, p.Flag.Name) {
			s.located = "here: --" + p.Flag.Name + " goes before NATS_URL"
			return
		}
	}
	switch {
	case sameAddress(at, s.NATSListen):
	case command.Command() == "up":
		s.located = "here: up joins no other; NATS_URL leads programs of this shell elsewhere"
	default:
		s.NATSURL, s.located = at, "from NATS_URL; --nats-listen starts a server here"
		if s.NATSCreds == "" {
			s.NATSCreds = getenv("NATS_CREDS")
		}
	}
}

// sameAddress reports whether a NATS URL is the address that this program would listen on.
func sameAddress(server, listen string) bool {
	if !strings.Contains(server, "://") {
		server = "nats://" + server
	}
	u, err := url.Parse(server)
	if err != nil {
		return false
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil || port != cmp.Or(u.Port(), defaultPort) {
		return false
	}
	return isLoopback(u.Hostname()) && (isLoopback(host) || isAny(host)) || strings.EqualFold(host, u.Hostname())
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

func isAny(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}
