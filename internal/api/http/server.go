package httpapi

import (
	"cmp"
	"log/slog"
	"net/http"
	"time"

	"github.com/hookrouter/hookrouter/internal/api/agentapi"
	"github.com/hookrouter/hookrouter/internal/api/web"
	"github.com/hookrouter/hookrouter/internal/wire"
)

const (
	maxConnections = 4096
	maxHeader      = 32 << 10         // bytes
	headerTimeout  = 5 * time.Second  // for a request's header
	answerTimeout  = 10 * time.Second // for a client to take an answer, or an event of a stream
	idleTimeout    = 2 * time.Minute
	keepAliveEvery = 15 * time.Second // a comment in a stream, so that proxies keep it
)

// Identities knows the agents' tokens. [identity.File] implements it.
type Identities interface {
	// Bearer returns the label of the agent with a token, such as "agent/coder".
	Bearer(token string) (label string, ok bool)
}

// Options configure a server. Agents and Identities are required.
type Options struct {
	Agents     *agentapi.API
	Identities Identities
	// Hosts are Host headers that are allowed besides loopback names and the address of the
	// connection: a name for any port, or a name with one.
	Hosts []string
	// MaxConnections is how many there may be; 0 means 4096.
	MaxConnections int
	// BodyTimeout is how long a client may take to send a body; 0 means ten seconds.
	BodyTimeout time.Duration
	// Log gets wrong tokens and failures; nil discards them.
	Log *slog.Logger
}

// Server answers agents over HTTP.
type Server struct {
	o      Options
	agents *agentapi.API
	log    *slog.Logger
	wrong  web.Throttle
	conns  web.ConnLimiter

	unauthorized chan struct{} // a semaphore of messages without a valid token
	senders      senders
}

// New makes a server.
func New(o Options) *Server {
	o.BodyTimeout = cmp.Or(o.BodyTimeout, 10*time.Second)
	return &Server{
		o: o, agents: o.Agents, log: cmp.Or(o.Log, slog.New(slog.DiscardHandler)),
		conns:   web.ConnLimiter{Limit: cmp.Or(o.MaxConnections, maxConnections)},
		senders: senders{open: map[string]*openRequests{}}, unauthorized: make(chan struct{}, maxUnauthorized),
	}
}

// HTTP returns a server that bounds what a client may send, how long it may take, and the number of
// connections.
func (s *Server) HTTP() *http.Server {
	served := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	s.conns.Attach(served)
	return served
}

// Handler serves the API.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, verb := range [...]string{"execute", "emit", "collect"} {
		mux.Handle("POST /v1/"+verb+"/{event}", s.authorized(verb, func(c *call) error { return c.event(verb) }))
	}
	mux.Handle("POST /v1/contributions/{channel}", s.authorized("contributions", (*call).contributions))
	mux.Handle("GET /v1/pending/{id}", s.authorized("execute", (*call).resume))
	mux.Handle("POST /v1/session/turn", s.authorized("session-turn", func(c *call) error { return c.session(s.agents.Turn) }))
	mux.Handle("POST /v1/session/end", s.authorized("session-end", func(c *call) error { return c.session(s.agents.EndSession) }))
	mux.HandleFunc("POST "+dialects, s.dialect)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, wire.Errorf(wire.NotFound, "there is no %s %s: see docs/http-api.md", web.Clip(r.Method), web.Clip(r.URL.Path)))
	})
	return s.bounded(s.guarded(mux))
}
