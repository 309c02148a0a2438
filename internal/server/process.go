package server

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookrouter/hookrouter/internal/api/console"
	"github.com/hookrouter/hookrouter/internal/identity"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/policy/redact"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/webhook"
)

// Options configure a process. The zero Options run an embedded server without listening, which
// needs StoreDir.
type Options struct {
	// NATS says which server to join; an empty URL starts one here.
	NATS natsx.Options
	// Listen is the embedded server's address, host:port; empty for none.
	Listen string
	// Cert and Key are the paths of that server's certificate and its key; empty for no TLS.
	Cert, Key string
	// StoreDir is where the embedded server keeps its files.
	StoreDir string
	// AuthDir is where the embedded server's credentials are stored and created; empty means no
	// authentication.
	AuthDir string
	// ContextDir is the directory of the nats command line, where clients find the default
	// credentials; empty for none.
	ContextDir string
	// HTTPListen is the address of the health pages and the console; empty for none.
	HTTPListen string
	// AgentHTTP configures the HTTP server for agents.
	AgentHTTP AgentHTTP
	// NoConsole disables the console and its API.
	NoConsole bool
	// ConsoleToken holds the console's access tokens: see [console.ParseTokens]. Empty means a
	// random one.
	ConsoleToken string
	// Console says who may do what in the console, and how it is reached. Its Hosts apply to the
	// health pages too. Start sets the other fields.
	Console console.Options
	// ConsoleKey is the path of the key that signs the sessions of a random token. It is created
	// if missing. Empty means that sessions end with the process.
	ConsoleKey string
	// Webhook lists the receivers of approval requests.
	Webhook webhook.Options
	// Telemetry is that of the process; the server stops it. Nil means /metrics only.
	Telemetry *telemetry.Telemetry
	// Level is the log level, which /loglevel changes; nil disables that page.
	Level *slog.LevelVar
	// Drained is called in Run when the router has answered all requests and its NATS server
	// still runs. Workers in this process may stop then. Nil for none.
	Drained func()
	// Router configures the router.
	Router router.Options
	// Log is the log of the whole process; nil discards it.
	Log *slog.Logger
}

// Server is one process.
type Server struct {
	server *embedded.Server // nil if another server was joined

	authority  *identity.Authority // nil without authentication
	floods     chan string         // accounts that flood; nil without an authority
	identities *identity.File
	contexts   string // directory of the contexts that end with this process; empty for none

	bus      *natsx.Conn
	requests *natsx.Conn   // on which requests arrive
	lookUps  chan struct{} // a semaphore of the console's look-ups
	scans    chan struct{} // a semaphore of those that read records sequentially
	mask     redact.Masker // masks secrets for people, whatever the log contains
	router   *router.Router
	hooks    *webhook.Sender // nil without webhooks
	http     *http.Server
	page     *console.Console // nil without a console
	agents   *agentServer     // nil without identities
	local    *localServer     // nil if hook-agents ask over NATS
	listen   net.Listener
	tel      *telemetry.Telemetry
	drained  func()
	stopping atomic.Bool
	level    *slog.LevelVar // nil if it is fixed
	log      *slog.Logger
}

// Start starts the embedded server, connects and prepares the router. Nothing is served before
// Run. The error says what to change.
func Start(ctx context.Context, o Options) (*Server, error) {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	n := &Server{log: o.Log, tel: o.Telemetry, level: o.Level, drained: o.Drained, lookUps: make(chan struct{}, maxLookUps), scans: make(chan struct{}, maxScans), mask: o.Router.Audit.View.Mask}
	if n.mask == nil {
		n.mask = redact.Default()
	}
	if err := n.start(ctx, o); err != nil {
		n.close(ctx)
		return nil, err
	}
	return n, nil
}

func (n *Server) start(ctx context.Context, o Options) error {
	var err error
	o.NATS.Log, o.Router.Log = o.Log, o.Log
	o.NATS.Name = cmp.Or(o.NATS.Name, "hook-router")
	o.NATS.Inbox = cmp.Or(o.NATS.Inbox, inbox)
	if o.NATS.URL == "" {
		if err := n.startNATS(&o); err != nil {
			return err
		}
	}
	if n.bus, err = natsx.Connect(o.NATS); err != nil {
		return err
	}
	if n.requests, err = natsx.Connect(o.NATS); err != nil {
		return err
	}
	o.Router.Requests = n.requests
	if len(o.Webhook.URLs)+len(o.Webhook.Later) > 0 {
		o.Webhook.Log = o.Log
		if n.hooks, err = webhook.New(o.Webhook); err != nil {
			return err
		}
		o.Router.Dispatch.Notify = n.hooks.Notify
	}
	if n.tel == nil {
		if n.tel, err = telemetry.Start(ctx, telemetry.Options{Version: o.Router.Version, Log: o.Log}); err != nil {
			return err
		}
	}
	o.Router.Telemetry = n.tel
	if err := n.prepare(ctx, o.Router); err != nil {
		return err
	}
	if err := n.newAgentServer(ctx, o.AgentHTTP, o.Router.Identities); err != nil {
		return err
	}
	n.newLocalServer(ctx, o.Router.ServerKey)
	return n.listenHTTP(ctx, o)
}

// coldStart is how long a new cluster may take to elect its leaders.
const coldStart = 30 * time.Second

// prepare makes the router. It retries time-outs: a cluster that started together with this
// process has no leaders yet.
func (n *Server) prepare(ctx context.Context, o router.Options) (err error) {
	for end := time.Now().Add(coldStart); ; {
		n.router, err = router.New(ctx, n.bus, o)
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, natsx.ErrPermission) || time.Now().After(end) || ctx.Err() != nil {
			return err
		}
		n.log.Info("no answer from JetStream; trying again", "error", err)
	}
}

// inbox is the prefix of the router's replies. It differs from all others, so that the right to
// read its own replies does not let a hook read the router's.
const inbox = "_INBOX_router"

// Run serves until ctx ends, then drains. It calls up once when the router serves; up may be
// nil.
func (n *Server) Run(ctx context.Context, up func()) error {
	defer n.close(ctx)
	defer context.AfterFunc(ctx, func() { n.stopping.Store(true) })()
	var wg sync.WaitGroup
	defer wg.Wait()
	if n.http != nil {
		wg.Go(func() { _ = n.http.Serve(n.listen) })
		defer func() { _ = n.http.Close() }()
	}
	if n.page != nil {
		defer n.page.Close()
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	if n.floods != nil {
		wg.Go(func() { n.stopFloods(running) })
	}
	if n.agents != nil {
		wg.Go(func() { n.agents.run(running) })
	}
	if n.hooks != nil { // they announce what the router decides while it drains
		draining, stop := context.WithCancel(context.WithoutCancel(ctx))
		defer stop()
		wg.Go(func() { _ = n.hooks.Run(draining) })
		wg.Go(func() { n.hooks.Follow(draining, n.router.Approvals()) })
	}
	if n.drained != nil {
		defer n.drained()
	}
	return n.router.Run(ctx, up)
}

// ClientURL returns the address of the embedded server; empty if it does not listen.
func (n *Server) ClientURL() string {
	if n.server == nil || n.server.Addr() == nil {
		return ""
	}
	return n.server.ClientURL()
}

// InProcess returns the server for clients in this process, which need no socket; nil if another
// server was joined.
func (n *Server) InProcess() natsx.InProcess {
	if n.server == nil {
		return nil
	}
	return n.server
}

// Ready reports why the router can't serve at the moment, or nil.
func (n *Server) Ready() error { return n.router.Ready() }

func (n *Server) close(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	if n.page != nil {
		n.page.Close()
	}
	if n.local != nil {
		n.local.close(ctx)
	}
	if n.agents != nil {
		n.agents.close(ctx)
	}
	if n.listen != nil {
		_ = n.listen.Close()
	}
	if n.requests != nil {
		n.requests.Close()
	}
	if n.bus != nil {
		n.bus.Close()
	}
	if n.server != nil {
		n.removeContexts()
		n.server.Stop()
	}
	ctx, cancel := context.WithTimeout(ctx, lastSpans)
	defer cancel()
	if err := n.tel.Stop(ctx); err != nil {
		n.log.Warn("telemetry not flushed", "error", err)
	}
}

// lastSpans bounds the final export of spans.
const lastSpans = 3 * time.Second
