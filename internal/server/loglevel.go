package server

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// levelPage shows the level of the log and changes it, for people on this machine:
// whoever reads debug lines reads what passes.
type levelPage struct {
	level *slog.LevelVar
	log   *slog.Logger
}

// ServeHTTP answers GET with the level, and PUT with a level as its body.
func (p *levelPage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case !fromHere(r):
		http.Error(w, "the log level can be read and changed from this machine only, as http://127.0.0.1: or http://localhost:", http.StatusForbidden)
	case r.Method == http.MethodGet:
		_, _ = fmt.Fprintln(w, strings.ToLower(p.level.Level().String()))
	case r.Method == http.MethodPut:
		p.put(w, r)
	default:
		w.Header().Set("Allow", "GET, PUT")
		http.Error(w, "GET shows the level, PUT changes it", http.StatusMethodNotAllowed)
	}
}

func (p *levelPage) put(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64))
	var level slog.Level
	if err == nil {
		err = level.UnmarshalText([]byte(strings.TrimSpace(string(body))))
	}
	if err != nil {
		http.Error(w, "the body must be debug, info, warn or error", http.StatusBadRequest)
		return
	}
	p.level.Set(level)
	p.log.Warn("log level changed", "to", level)
	_, _ = fmt.Fprintln(w, strings.ToLower(level.String()))
}

// fromHere reports whether a request comes from this machine, was sent to it by a
// name of its own, and by no page of another origin.
func fromHere(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !peer.Addr().Unmap().IsLoopback() || r.Header.Get("Origin") != "" || r.Header.Get("X-Forwarded-For") != "" {
		return false
	}
	name, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		name = strings.Trim(r.Host, "[]")
	}
	ip, err := netip.ParseAddr(name)
	return strings.EqualFold(name, "localhost") || err == nil && ip.IsLoopback()
}
