package router

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/nats-io/nuid"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// registerTimeout bounds a registration: longer than a lease, which a replica
// that died may make it wait for.
const registerTimeout = 10 * time.Second

// registered is the reply to a registration.
type registered struct {
	ID          string   `json:"id"`
	Instance    string   `json:"instance"`
	Revision    uint64   `json:"revision"`
	CallSubject string   `json:"call_subject"`
	TTLMS       int64    `json:"ttl_ms"`
	Protocol    int      `json:"protocol"`
	Ignored     []string `json:"ignored,omitempty"`
}

// register adds, renews or changes a hook.
func (r *Router) register(ctx context.Context, req *natsx.Request) error {
	id := r.bus.Tail("register", req.Subject)
	if err := events.CheckHookID(id); err != nil {
		return wire.Errorf(wire.Malformed, "%v", err)
	}
	reg, ignored, err := chain.ParseRegistration(id, req.Data, spoken(req))
	if err != nil {
		return wire.Errorf(wire.Malformed, "%v", err)
	}
	if _, err := compile(reg); err != nil {
		return wire.Errorf(wire.Malformed, "hook %q: %v", id, err)
	}
	if reg.Instance == "" {
		reg.Instance = nuid.Next()
	}
	ctx, cancel := context.WithTimeout(ctx, registerTimeout)
	defer cancel()
	revision, err := r.registry.Register(ctx, r.who(req), reg)
	if err != nil {
		return err
	}
	return replyJSON(req, registered{
		ID: id, Instance: reg.Instance, Revision: revision, CallSubject: r.bus.Call(id),
		TTLMS: r.registry.TTL().Milliseconds(), Protocol: chain.ProtocolVersion, Ignored: ignored,
	})
}

// spoken is the version of the protocol that the sender of a request speaks.
func spoken(req *natsx.Request) int {
	version, err := strconv.Atoi(wire.Get(req.Header, wire.HeaderProtocol))
	if err != nil {
		return chain.ProtocolVersion
	}
	return version
}

// unregistered is the reply to an unregistration.
type unregistered struct {
	Ignored []string `json:"ignored,omitempty"`
}

// unregister removes an instance of a hook, or the hook.
func (r *Router) unregister(ctx context.Context, req *natsx.Request) error {
	id := r.bus.Tail("unregister", req.Subject)
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
	if len(ignored) > 0 && spoken(req) <= chain.ProtocolVersion {
		return wire.Errorf(wire.Malformed, "the body has the unknown field %q", ignored[0])
	}
	ctx, cancel := context.WithTimeout(ctx, registerTimeout)
	defer cancel()
	inst := "" // all of them
	if body.Instance != nil {
		inst = *body.Instance
	}
	if err := r.registry.Unregister(ctx, r.who(req), id, inst); err != nil {
		return err
	}
	return replyJSON(req, unregistered{ignored})
}

// handlers lists hooks by the pattern they registered.
func (r *Router) handlers(_ context.Context, req *natsx.Request) error {
	pattern := ""
	if tail := r.bus.Tail("handlers", req.Subject); tail != "" {
		pattern = patternOf(tail)
		if err := events.CheckPattern(pattern); err != nil {
			return wire.Errorf(wire.Malformed, "%v", err)
		}
	}
	table, err := r.registry.Table()
	if err != nil {
		return err
	}
	return replyJSON(req, table.Handlers(pattern))
}

// list answers with every registration in full.
func (r *Router) list(ctx context.Context, req *natsx.Request) error {
	body, err := r.Registry(ctx)
	if err != nil {
		return err
	}
	return req.Reply(nil, body)
}

func replyJSON(req *natsx.Request, v any) error {
	body, err := jsonv2.Marshal(v)
	if err != nil {
		return errors.New("could not write the answer")
	}
	return req.Reply(nil, body)
}
