package nats

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/hookrouter/hookrouter/internal/api/agentapi"
	"github.com/hookrouter/hookrouter/internal/bundle/store"
	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/identity"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/natsx/service"
	"github.com/hookrouter/hookrouter/internal/pinned"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/session"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// Options configure a server. All fields are required unless said otherwise.
type Options struct {
	Conn       *natsx.Conn
	Agents     *agentapi.API
	Dispatcher *dispatch.Dispatcher
	Registry   *registry.Registry
	Approvals  approval.Service
	Sessions   *session.Store
	// Compile checks the match of a registration.
	Compile func(chain.Registration) error
	// Ready reports why this replica can't serve agents, or nil.
	Ready func() error
	// Version and Metadata are for service discovery.
	Version  string
	Metadata map[string]string
	// Limits are those of injections, as session show reports them.
	Limits verdict.Limits
	// Accounts trusts the NATS server's word on who sent a request from another account.
	Accounts bool
	// Identities knows who sends and what workers may do; nil for nobody and everything.
	Identities *identity.File
	// ServerKey proves to clients that this is the router of their credentials; nil if none name
	// one.
	ServerKey nkeys.KeyPair
	// Guards are the hooks that an operator pinned.
	Guards *pinned.All
	// Policies are the signed policies of workers.
	Policies *store.Store
	// MaxPerAgent bounds the requests in flight of one proven agent.
	MaxPerAgent int
	// Flooded is called when a sender floods the router, with its account; empty if that is
	// unknown. It must not block.
	Flooded func(account string)
	// Record writes a record to the audit log and returns when it is stored.
	Record func(context.Context, audit.Record) error
	// Refused is called for each request that got an error; nil for none.
	Refused func(endpoint string, code int)
	Log     *slog.Logger
}

// Server answers on the subjects of the wire protocol. [Server.Run] runs it.
type Server struct {
	opts     Options
	conn     *natsx.Conn
	agents   *agentapi.API
	dispatch *dispatch.Dispatcher
	service  *service.Service
	log      *slog.Logger
	ofAgents *service.Shares

	leave []func() // leaves the queue groups of agents; nil outside of them. Used by Start and then Run only.
}

// maxOperators bounds the requests of workers and operators in flight. Further ones wait.
const maxOperators = 256

// maxOfWorkers bounds the events of workers in flight: one worker must not take the router from
// agents.
const maxOfWorkers = 16

// Start subscribes to every subject. Run keeps the server going.
func Start(o Options) (*Server, error) {
	s := &Server{opts: o, conn: o.Conn, agents: o.Agents, dispatch: o.Dispatcher, log: o.Log}
	s.ofAgents = s.shares(o.MaxPerAgent)
	if o.Identities != nil { // workers may emit that a module failed to load, and nothing else
		s.ofAgents.Own(maxOfWorkers)
	}
	var err error
	if s.service, err = service.Start(o.Conn, "hook-router", o.Version, o.Metadata); err != nil {
		return nil, err
	}
	for _, e := range s.operatorEndpoints() {
		if _, err := s.service.Add(s.queued(e)); err != nil {
			return nil, errors.Join(err, s.service.Stop(context.Background()))
		}
	}
	if err := s.join(); err != nil {
		return nil, errors.Join(err, s.service.Stop(context.Background()))
	}
	return s, nil
}

// InFlight returns the number of agents' requests in flight, and its limit.
func (s *Server) InFlight() (n, limit int) { return len(s.agents.InFlight), cap(s.agents.InFlight) }

// operatorEndpoints are the endpoints for workers, people and operators.
func (s *Server) operatorEndpoints() []service.Endpoint {
	of := s.conn.Of
	list := []service.Endpoint{
		{Name: "handlers", Subject: of("handlers"), Handle: s.handlers},
		{Name: "handlers-of", Subject: of("handlers", ">"), Handle: s.handlers},
		{Name: "registry", Subject: of("registry"), Handle: s.list},
		{Name: "registry-accept", Subject: of("registry", "accept"), Handle: s.acceptRegistry},
		{Name: "explain", Subject: of("explain", ">"), Handle: s.explain},
		{Name: "register", Subject: of("register", "*"), Handle: s.register, Data: s.opts.Registry.Counts},
		{Name: "unregister", Subject: of("unregister", "*"), Handle: s.unregister},
		{Name: "approvals", Subject: of("approvals"), Handle: s.pending},
		{Name: "approval", Subject: of("approval", "*"), Handle: s.showApproval},
		{Name: "approve", Subject: of("approve", "*"), Handle: s.approve},
		{Name: "reveal", Subject: of("reveal", "*"), Handle: s.reveal},
		{Name: "session-turn", Subject: of("session", "turn"), Handle: s.ofSender(s.agents.Turn)},
		{Name: "session-end", Subject: of("session", "end"), Handle: s.ofSender(s.agents.EndSession)},
		{Name: "session-close", Subject: of("session", "close"), Handle: s.closeSession},
		{Name: "session-show", Subject: of("session", "show"), Handle: s.showSession},
		{Name: "session-revoke", Subject: of("session", "revoke"), Handle: s.revoke},
		{Name: "freeze", Subject: of("freeze"), Handle: s.freeze},
		{Name: "thaw", Subject: of("thaw"), Handle: s.thaw},
		{Name: "frozen", Subject: of("frozen"), Handle: s.frozen},
		{Name: "guards", Subject: of("guards"), Handle: s.guards},
		{Name: "guard-pin", Subject: of("guard", "pin"), Handle: s.pin},
		{Name: "guard-unpin", Subject: of("guard", "unpin"), Handle: s.unpin},
		{Name: "hook-disable", Subject: of("hook", "disable"), Handle: s.disable},
		{Name: "hook-enable", Subject: of("hook", "enable"), Handle: s.enable},
		{Name: "policy-get", Subject: of("policy", "get"), Handle: s.getPolicy},
		{Name: "policy-push", Subject: of("policy", "push"), Handle: s.pushPolicy},
	}
	if s.opts.ServerKey != nil {
		list = append(list, service.Endpoint{Name: "prove", Subject: of("prove"), Handle: s.prove})
	}
	limiter, shares := service.NewLimiter(maxOperators), s.shares(maxOperators/2)
	for i := range list {
		list[i].Limiter, list[i].Wait, list[i].Shares = limiter, true, shares
		list[i].Handle = s.requireSender(list[i].Handle)
	}
	return list
}

// requireSender refuses requests that hide who sent them, so that the log can name who changed
// what.
func (s *Server) requireSender(handle func(context.Context, *service.Request) error) func(context.Context, *service.Request) error {
	if s.opts.Identities == nil && !s.opts.Accounts {
		return handle
	}
	return func(ctx context.Context, req *service.Request) error {
		if _, err := req.Sender(s.shortestAccount()); err != nil {
			return err
		}
		return handle(ctx, req)
	}
}

// agentEndpoints are the endpoints for agents.
func (s *Server) agentEndpoints() []service.Endpoint {
	of := s.conn.Of
	list := []service.Endpoint{
		{Name: "emit", Subject: of("emit", ">"), Handle: s.decide("emit"), Data: func() any { return s.dispatch.Counters() }},
		{Name: "execute", Subject: of("execute", ">"), Handle: s.decide("execute")},
		{Name: "collect", Subject: of("collect", ">"), Handle: s.decide("collect")},
		{Name: "contributions", Subject: of("contributions", ">"), Handle: s.contributions},
	}
	for i := range list {
		list[i].Limiter, list[i].Shares = s.agents.InFlight, s.ofAgents
	}
	return list
}

// shares bounds what one sender has in flight; nil where senders are not proven.
func (s *Server) shares(limit int) *service.Shares {
	if s.opts.Identities == nil && !s.opts.Accounts {
		return nil
	}
	return service.NewShares(limit, s.shortestAccount(), s.opts.Flooded)
}

// queued returns the endpoint in the queue group of the replicas, of which one answers.
func (s *Server) queued(e service.Endpoint) service.Endpoint {
	e.Queue = s.conn.QueueGroup()
	if s.opts.Refused != nil {
		e.OnError = func(code int) { s.opts.Refused(e.Name, code) }
	}
	return e
}

// join joins the queue groups for agents.
func (s *Server) join() error {
	for _, e := range s.agentEndpoints() {
		remove, err := s.service.Add(s.queued(e))
		if err != nil {
			s.leaveAll()
			return err
		}
		s.leave = append(s.leave, remove)
	}
	return nil
}

func (s *Server) leaveAll() {
	for _, remove := range s.leave {
		remove()
	}
	s.leave = nil
}

// readinessInterval is how often readiness is checked.
const readinessInterval = 100 * time.Millisecond

// Run leaves the queue groups of agents while this replica is not ready, until ctx ends.
func (s *Server) Run(ctx context.Context) {
	tick := time.NewTicker(readinessInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		switch why := s.opts.Ready(); {
		case why != nil && s.leave != nil && s.conn.Connected():
			s.leaveAll()
			s.log.Warn("not ready; leaving agents to other replicas", "error", why)
		case why == nil && s.leave == nil:
			if err := s.join(); err != nil {
				s.log.Error("subscribe to agents failed; retrying", "error", err)
				continue
			}
			s.log.Info("ready again; serving agents")
		}
	}
}

// Stop takes no more requests and waits until those in flight are answered, or ctx ends.
func (s *Server) Stop(ctx context.Context) error { return s.service.Stop(ctx) }

// prove signs the challenge of a client that checks whether the router is genuine.
func (s *Server) prove(_ context.Context, req *service.Request) error {
	signature, err := natsx.Prove(s.opts.ServerKey, req.Data)
	if err != nil {
		return err
	}
	return req.Reply(nil, signature)
}
