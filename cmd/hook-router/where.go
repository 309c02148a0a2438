package main

import (
	"cmp"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// defaultPort is the port of NATS servers.
const defaultPort = "4222"

// location describes how NATS_URL is used. It is the zero value if NATS_URL is not set, if another
// option names the server, or if NATS_URL is the address of the embedded server.
type location struct {
	url     string // NATS_URL
	ignored string // why the server is not joined; empty if it is
}

// locate determines the NATS server if neither --nats-url nor HOOK_ROUTER_NATS_URL names one:
// NATS_URL with NATS_CREDS, as in all other programs. The embedded server is used instead if one of
// its flags is given, if NATS_URL is the address on which it would listen, and by up.
func (s *serve) locate(command *kong.Context, getenv func(string) string) {
	at := getenv("NATS_URL")
	if s.NATSURL != "" || at == "" || sameAddress(at, s.NATSListen) {
		return
	}
	s.located.url = at
	if command.Command() == "up" {
		s.located.ignored = "hook-router up starts a NATS server of its own"
		return
	}
	if flag := embeddedFlag(command); flag != "" {
		s.located.ignored = "--" + flag + " is given, so a NATS server is started here"
		return
	}
	s.NATSURL = at
	if s.NATSCreds == "" {
		s.NATSCreds = getenv("NATS_CREDS")
	}
}

// say logs how NATS_URL is used.
func (l location) say(log *slog.Logger) {
	at := natsx.RedactURL(l.url)
	switch {
	case l.url == "":
	case l.ignored != "":
		log.Info("NATS_URL is not used, but hookctl and other programs in this shell use it", "reason", l.ignored, "nats_url", at)
	default:
		log.Info("joining the NATS server that NATS_URL names; --nats-listen starts one here", "nats_url", at)
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
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

func isAny(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}
