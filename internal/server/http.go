package server

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/hookrouter/hookrouter/internal/api/console"
	"github.com/hookrouter/hookrouter/internal/api/web"
	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// maxConnections bounds the connections to the console and the probes.
const maxConnections = 512

func (n *Server) listenHTTP(ctx context.Context, o Options) (err error) {
	if o.HTTPListen == "" {
		return nil
	}
	if n.listen, err = (&net.ListenConfig{}).Listen(ctx, "tcp", o.HTTPListen); err != nil {
		return fmt.Errorf("serve HTTP: %w: choose another address with --http-listen", err)
	}
	mux := n.health(o.Console.Hosts)
	if !o.NoConsole {
		page := o.Console
		if page.Token, page.People, err = console.ParseTokens(o.ConsoleToken); err != nil {
			return err
		}
		if n.hooks != nil {
			page.Links = n.hooks.Links()
		}
		page.Approvals, page.Events, page.Registry, page.Why = n.router.Approvals(), n.live, n.router.Registry, n.why
		page.Freezer, page.Reveal, page.Records = n.router, n.router.Reveal, n.records(o.Router.Audit.Recorder.Mode)
		page.SessionKey, page.Log = n.sessionKey(o), o.Log
		n.page = console.New(page)
		if n.level != nil {
			mux.Handle("/loglevel", n.page.Protect(&levelPage{n.level, n.log, n.page.MayFreeze}))
		}
		mux.Handle("/", telemetry.FromHTTP(n.page.Handler()))
	}
	n.http = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute}
	(&web.ConnLimiter{Limit: maxConnections}).Attach(n.http)
	return nil
}

// records returns the audit log for the console; nil if none is kept.
func (n *Server) records(mode recorder.Mode) console.Records {
	if mode == recorder.Off {
		return nil
	}
	return scanned{n}
}

// sessionKey returns the key that signs the sessions of a random token. Without it people need the
// new token after a restart; the router serves nevertheless.
func (n *Server) sessionKey(o Options) []byte {
	if o.ConsoleKey == "" || o.ConsoleToken != "" {
		return nil
	}
	key, err := console.LoadKey(o.ConsoleKey)
	if err != nil {
		n.log.Warn("sessions of the console end with this process", "error", err)
	}
	return key
}

// HTTPAddr returns the address of the health pages; empty if they are not served.
func (n *Server) HTTPAddr() string {
	if n.listen == nil {
		return ""
	}
	return n.listen.Addr().String()
}

// ConsoleToken returns the access token of the console; empty if it is not served.
func (n *Server) ConsoleToken() string {
	if n.page == nil {
		return ""
	}
	return n.page.Token()
}

// health serves /healthz (the process is alive), /readyz (it can serve) and /metrics.
func (n *Server) health(hosts []string) *http.ServeMux {
	pages := http.NewServeMux()
	pages.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { web.Health(w, "") })
	pages.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		reason := ""
		if n.stopping.Load() {
			reason = "stopping: no new requests are accepted"
		} else if err := n.router.Ready(); err != nil {
			reason = wire.FromError(err).Text
		}
		web.Health(w, reason)
	})
	pages.Handle("GET /metrics", n.tel.Handler())
	mux := http.NewServeMux()
	for _, path := range [...]string{"GET /healthz", "GET /readyz", "GET /metrics"} {
		mux.Handle(path, web.CheckHost(hosts, pages))
	}
	return mux
}
