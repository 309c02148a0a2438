package nats

import (
	"context"
	"errors"
	"log/slog"
	"slices"
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
	Conn      *natsx.Conn
	Agents    *agentapi.API
	Registry  *registry.Registry
	Approvals approval.Service
	Sessions  *session.Store
	// Compile checks the match of a registration.
	Compile func(chain.Registration) error
	// Ready reports why this replica can't serve agents, or nil.
	Ready func() error
	// Version and Metadata are for service discovery.
	Version  string
	Metadata map[string]string
	// Limits are the injection limits that session-show reports.
	Limits verdict.Limits
	// Accounts trusts the NATS server's word on who sent a request from another account.
	Accounts bool
	// Identities knows the senders, and what workers may do; nil means that senders are unknown and
	// workers may do everything.
	Identities *identity.File
	// ServerKey proves to clients that this is the router that their credentials name; nil if they
	// name none.
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

// maxOfWorkers bounds the events of workers in flight: a worker must not crowd out agents.
const maxOfWorkers = 16

// Start subscribes to every subject. Call [Server.Run] and [Server.Stop].
func Start(o Options) (*Server, error) {
	s := &Server{opts: o, conn: o.Conn, agents: o.Agents, dispatch: o.Agents.Dispatcher, log: o.Log}
	s.ofAgents = s.shares(o.MaxPerAgent)
	if o.Identities != nil { // workers may only emit that a module failed to load
		s.ofAgents.Own(maxOfWorkers)
	}
	var err error
	if s.service, err = service.Start(o.Conn, "hook-router", o.Version, o.Metadata); err != nil {
		return nil, err
	}
	for _, e := range slices.Concat(s.operatorEndpoints(), s.workerEndpoints()) {
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

// shares bounds what one sender has in flight; nil where senders are not proven.
func (s *Server) shares(limit int) *service.Shares {
	if s.opts.Identities == nil && !s.opts.Accounts {
		return nil
	}
	return service.NewShares(limit, s.shortestAccount(), s.opts.Flooded)
}

// queued puts an endpoint into the queue group of the replicas, so that one of them answers. Without
// identities, no account proves anything.
func (s *Server) queued(e service.Endpoint) service.Endpoint {
	e.Queue, e.Imported = s.conn.QueueGroup(), e.Imported && s.opts.Identities != nil
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

// Stop stops receiving requests and waits until those in flight are answered, or ctx ends.
func (s *Server) Stop(ctx context.Context) error { return s.service.Stop(ctx) }

// prove signs the challenge of a client that checks whether the router is genuine.
func (s *Server) prove(_ context.Context, req *service.Request) error {
	signature, err := natsx.Prove(s.opts.ServerKey, req.Data)
	if err != nil {
		return err
	}
	return req.Reply(nil, signature)
}
