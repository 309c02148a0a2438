package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/signer"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/internal/version"
)

// say logs what the operator should know about the flags.
func (s serve) say(ctx context.Context, log *slog.Logger) {
	s.located.say(log)
	if s.NATSURL != "" && s.Audit == "strict" {
		s.sayDurability(ctx, log)
	}
	if s.Console == "on" && s.HTTPListen != "" && !loopback(s.HTTPListen) {
		log.Warn("the console listens beyond loopback without TLS: put a proxy with TLS before it, or turn it off with --console=off",
			"http_listen", s.HTTPListen)
	}
	if s.Approvers == "proven" && !s.proves() {
		log.Info("answers over NATS are refused: connections prove no identity; people answer in the console")
	}
}

// sayReady prints the addresses of the router.
func (s serve) sayReady(stdout io.Writer, n *server.Server, key *signer.Key, began time.Time) {
	where := natsx.RedactURL(cmp.Or(s.NATSURL, n.ClientURL()))
	if s.located.url != "" && s.located.ignored == "" {
		where += " (from NATS_URL; --nats-listen starts a server here)"
	}
	fmt.Fprintf(stdout, "hook-router %s is ready after %d ms\n  NATS    %s\n  prefix  %s\n",
		version.Number(), time.Since(began).Milliseconds(), where, s.Prefix)
	if key != nil {
		fmt.Fprintf(stdout, "  audit   %s, key %s\n", s.Audit, key.Public)
	}
	if addr := reachable(n.AgentAddr()); addr != "" {
		fmt.Fprintf(stdout, "  agents  %s://%s/v1/\n", map[bool]string{false: "http", true: "https"}[s.AgentCert != ""], addr)
	}
	if addr := reachable(n.HTTPAddr()); addr != "" {
		fmt.Fprintf(stdout, "  health  http://%s/readyz\n", addr)
		if s.Console == "on" {
			fmt.Fprintf(stdout, "  console %s\n", s.consoleURL(n))
		}
	}
}

// consoleURL returns the URL of the console for the user who started this program; empty if there
// is no console.
func (s serve) consoleURL(n *server.Server) string {
	addr := reachable(n.HTTPAddr())
	switch {
	case addr == "" || s.Console == "off":
		return ""
	case s.ConsoleToken != "":
		return fmt.Sprintf("http://%s/#token=… (the configured one)", addr)
	}
	return fmt.Sprintf("http://%s/#token=%s", addr, n.ConsoleToken())
}

// reachable returns an address that a browser on this machine can open.
func reachable(addr string) string {
	at, err := netip.ParseAddrPort(addr)
	if err != nil || !at.Addr().IsUnspecified() {
		return addr
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port()).String()
}

// loopback reports whether an address can be reached only from this machine.
func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return true // refused later, with a reason
	}
	return isLoopback(host)
}
