package nats

import (
	"context"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx/service"
)

// maxOperators bounds the requests in flight of agents, people and operators that are not events,
// and maxRegistering those of workers. Further requests wait. The limits are separate, so that a
// flooding worker does not delay a freeze.
const (
	maxOperators   = 256
	maxRegistering = 256
)

const (
	// changeTimeout bounds a change of the registry. It is longer than a lease, which a dead replica
	// may make it wait for.
	changeTimeout = 10 * time.Second
	// policyTimeout bounds a read or a write of the store of policies.
	policyTimeout = 5 * time.Second
)

type handler = func(context.Context, *service.Request) error

// within bounds the time of a handler.
func within(timeout time.Duration, handle handler) handler {
	return func(ctx context.Context, req *service.Request) error {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		return handle(ctx, req)
	}
}

// workerEndpoints are the endpoints that workers may use, and operators.
func (s *Server) workerEndpoints() []service.Endpoint {
	of := s.conn.Of
	return s.waiting(maxRegistering, []service.Endpoint{
		{Name: "registry", Subject: of("registry"), Handle: s.list},
		{Name: "register", Subject: of("register", "*"), Handle: within(changeTimeout, s.register), Data: func() any { return s.opts.Registry.Counts() }},
		{Name: "unregister", Subject: of("unregister", "*"), Handle: within(changeTimeout, s.unregister)},
		{Name: "policy-get", Subject: of("policy", "get"), Handle: within(policyTimeout, s.getPolicy)},
	})
}

// operatorEndpoints are the other endpoints for people, operators and agents' sessions.
func (s *Server) operatorEndpoints() []service.Endpoint {
	of := s.conn.Of
	list := []service.Endpoint{
		{Name: "handlers", Subject: of("handlers"), Handle: s.handlers},
		{Name: "handlers-of", Subject: of("handlers", ">"), Handle: s.handlers},
		{Name: "registry-accept", Subject: of("registry", "accept"), Handle: within(changeTimeout, s.acceptRegistry)},
		{Name: "explain", Subject: of("explain", ">"), Handle: s.explain},
		{Name: "approvals", Subject: of("approvals"), Handle: s.pending},
		{Name: "approval", Subject: of("approval", "*"), Handle: s.showApproval},
		{Name: "approve", Subject: of("approve", "*"), Handle: s.approve},
		{Name: "reveal", Subject: of("reveal", "*"), Handle: s.reveal},
		{Name: "session-turn", Subject: of("session", "turn"), Imported: true, Handle: s.ofSender(s.agents.Turn)},
		{Name: "session-end", Subject: of("session", "end"), Imported: true, Handle: s.ofSender(s.agents.EndSession)},
		{Name: "session-close", Subject: of("session", "close"), Handle: s.closeSession},
		{Name: "session-show", Subject: of("session", "show"), Handle: s.showSession},
		{Name: "session-revoke", Subject: of("session", "revoke"), Handle: s.revoke},
		{Name: "freeze", Subject: of("freeze"), Handle: within(changeTimeout, s.freeze)},
		{Name: "thaw", Subject: of("thaw"), Handle: within(changeTimeout, s.thaw)},
		{Name: "frozen", Subject: of("frozen"), Handle: s.frozen},
		{Name: "guards", Subject: of("guards"), Handle: s.guards},
		{Name: "guard-pin", Subject: of("guard", "pin"), Handle: within(changeTimeout, s.pin)},
		{Name: "guard-unpin", Subject: of("guard", "unpin"), Handle: within(changeTimeout, s.unpin)},
		{Name: "hook-disable", Subject: of("hook", "disable"), Handle: within(changeTimeout, s.disable)},
		{Name: "hook-enable", Subject: of("hook", "enable"), Handle: within(changeTimeout, s.enable)},
		{Name: "policy-push", Subject: of("policy", "push"), Handle: within(policyTimeout, s.pushPolicy)},
	}
	if s.opts.ServerKey != nil {
		list = append(list, service.Endpoint{Name: "prove", Subject: of("prove"), Imported: true, Handle: s.prove})
	}
	return s.waiting(maxOperators, list)
}

// waiting returns endpoints that share a limit of requests in flight, half of it for one sender, and
// whose further requests wait.
func (s *Server) waiting(limit int, list []service.Endpoint) []service.Endpoint {
	limiter, shares := service.NewLimiter(limit), s.shares(limit/2)
	for i := range list {
		list[i].Limiter, list[i].Wait, list[i].Shares = limiter, true, shares
		list[i].Handle = s.requireSender(list[i].Handle)
	}
	return list
}

// requireSender refuses requests that hide their sender, so that the log can name who changed what.
func (s *Server) requireSender(handle handler) handler {
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
		list[i].Limiter, list[i].Shares, list[i].Imported = s.agents.InFlight, s.ofAgents, true
	}
	return list
}
