package nats

import (
	"context"
	"maps"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/nats-io/nuid"

	"github.com/hookrouter/hookrouter/internal/api/agentapi"
	"github.com/hookrouter/hookrouter/internal/natsx/service"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// registered is the reply to a registration.
type registered struct {
	ID          string   `json:"id"`
	Instance    string   `json:"instance"`
	Revision    uint64   `json:"revision"`
	CallSubject string   `json:"call_subject"`
	TTLMS       int64    `json:"ttl_ms"`
	Protocol    int      `json:"protocol"`
	Ignored     []string `json:"ignored,omitempty"`
	// InForce is the registration that calls use, if it differs from the sent one; else nil.
	InForce *chain.Registration `json:"in_force,omitempty"`
}

// register adds, renews or changes a hook.
func (s *Server) register(ctx context.Context, req *service.Request) error {
	id := s.conn.Tail("register", req.Subject)
	if err := events.CheckHookID(id); err != nil {
		return wire.Errorf(wire.Malformed, "%v", err)
	}
	reg, ignored, err := chain.ParseRegistration(id, req.Data, agentapi.Protocol(req.Header))
	if err != nil {
		return wire.Errorf(wire.Malformed, "%v", err)
	}
	if err := s.opts.Compile(reg); err != nil {
		return wire.Errorf(wire.Malformed, "hook %q: %v", id, err)
	}
	if err := s.opts.Guards.CheckRegistration(reg); err != nil {
		return err
	}
	if err := s.opts.Identities.CheckRegistration(reg); err != nil {
		return err
	}
	if reg.Instance == "" {
		reg.Instance = nuid.Next()
	}
	revision, err := s.opts.Registry.Register(ctx, s.changer(req), reg)
	if err != nil {
		return err
	}
	return replyJSON(req, registered{
		ID: id, Instance: reg.Instance, Revision: revision, CallSubject: s.conn.Call(id),
		TTLMS: s.opts.Registry.TTL().Milliseconds(), Protocol: chain.ProtocolVersion, Ignored: ignored, InForce: s.opts.Registry.InForce(reg),
	})
}

// changer returns the proven sender of a change, or "": workers in the routers' account prove only
// that they may connect.
func (s *Server) changer(req *service.Request) string {
	sender, err := s.sender(req)
	if err != nil {
		return ""
	}
	return sender
}

// acceptRegistry accepts that registrations are lost, so that the routers serve again.
func (s *Server) acceptRegistry(ctx context.Context, req *service.Request) error {
	accepted, err := s.opts.Registry.Accept(ctx, s.changer(req))
	if err != nil {
		return err
	}
	return replyJSON(req, struct {
		Accepted bool `json:"accepted"`
	}{accepted})
}

// unregistered is the reply to an unregistration.
type unregistered struct {
	Ignored []string `json:"ignored,omitempty"`
}

// unregister removes an instance of a hook, or the hook.
func (s *Server) unregister(ctx context.Context, req *service.Request) error {
	id := s.conn.Tail("unregister", req.Subject)
	if err := events.CheckHookID(id); err != nil {
		return wire.Errorf(wire.Malformed, "%v", err)
	}
	var body struct {
		Instance *string                   `json:"instance"`
		Unknown  map[string]jsontext.Value `json:",embed"`
	}
	if _, err := events.ParseObject(req.Data); err != nil {
		return wire.Errorf(wire.Malformed, "%v", err)
	}
	if err := jsonv2.Unmarshal(req.Data, &body); err != nil || body.Instance != nil && *body.Instance == "" {
		return wire.Errorf(wire.Malformed, `the body must be {"instance":"…"}, or {} to remove the hook`)
	}
	ignored := slices.Sorted(maps.Keys(body.Unknown))
	if len(ignored) > 0 && agentapi.Protocol(req.Header) <= chain.ProtocolVersion {
		return wire.Errorf(wire.Malformed, "the body has the unknown field %q", ignored[0])
	}
	instance := "" // all of them
	if body.Instance != nil {
		instance = *body.Instance
	} else if err := s.opts.Guards.CheckRemoval(id); err != nil {
		return err
	}
	if err := s.opts.Registry.Unregister(ctx, s.changer(req), id, instance); err != nil {
		return err
	}
	return replyJSON(req, unregistered{ignored})
}

// handlers lists hooks by the pattern they registered. The tokens after the verb name the pattern:
// "tool.*" is "tool:*".
func (s *Server) handlers(_ context.Context, req *service.Request) error {
	pattern := strings.ReplaceAll(s.conn.Tail("handlers", req.Subject), ".", ":")
	if pattern != "" {
		if err := events.CheckPattern(pattern); err != nil {
			return wire.Errorf(wire.Malformed, "%v", err)
		}
	}
	table, err := s.opts.Registry.Table()
	if err != nil {
		return err
	}
	return replyJSON(req, table.Handlers(pattern))
}

// list answers with every registration in full.
func (s *Server) list(_ context.Context, req *service.Request) error {
	if !s.opts.Registry.Current() {
		return registry.ErrStale
	}
	return replyJSON(req, s.opts.Registry.List())
}
