package nats

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/hookrouter/hookrouter/internal/bundle"
	"github.com/hookrouter/hookrouter/internal/bundle/store"
	"github.com/hookrouter/hookrouter/internal/natsx/service"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// pushPolicy stores a signed policy. Workers check its signature, not the router.
func (s *Server) pushPolicy(ctx context.Context, req *service.Request) error {
	said, err := bundle.Claimed(req.Data)
	if err != nil {
		return wire.Errorf(wire.Malformed, "the policy can't be read: %v", err)
	}
	at, err := revision(req.Header)
	if err != nil {
		return err
	}
	pushed, err := s.recordPush(ctx, said, at, s.changer(req))
	if err != nil {
		return err
	}
	now, err := s.opts.Policies.Put(ctx, said, req.Data, at)
	if wire.CodeOf(err) == wire.Conflict { // another push was stored after this one was recorded
		pushed.Time, pushed.Action = time.Now(), "refused"
		return errors.Join(err, s.opts.Record(ctx, pushed))
	}
	if err != nil {
		return err
	}
	s.log.Info("policy pushed", "policy", said.Version(), "use", string(said.Use), "by", s.changer(req))
	return req.Reply(revised(now), nil)
}

// recordPush records a policy before it replaces the one at a revision.
func (s *Server) recordPush(ctx context.Context, said bundle.Statement, at uint64, by string) (r audit.Record, err error) {
	old, err := s.opts.Policies.Get(ctx, said.Name, said.Use, 0)
	if err != nil {
		return r, err
	}
	if old.Revision != at {
		return r, store.Conflict(said.Name)
	}
	pushed := audit.Policy{Version: said.Version(), Use: string(said.Use), Commit: said.Commit, By: by}
	if len(old.Raw) > 0 {
		was, err := bundle.Claimed(old.Raw)
		if err != nil {
			return r, wire.Errorf(wire.Internal, "the stored policy can't be read: %v", err)
		}
		pushed.Was = was.Version()
	}
	r = audit.Record{Time: time.Now(), Kind: audit.PolicyKind, Action: "pushed", Detail: pushed}
	if said.Restores > 0 {
		r.Action = "rolled_back"
	}
	return r, s.opts.Record(ctx, r)
}

// getPolicy answers with a stored policy, without a body if there is none or the requested
// revision is still the newest.
func (s *Server) getPolicy(ctx context.Context, req *service.Request) error {
	var body struct {
		Name   string     `json:"name"`
		Use    bundle.Use `json:"use"`
		Serial uint64     `json:"serial"`
	}
	if err := readBody(req, &body); err != nil {
		return err
	}
	if err := bundle.CheckName(body.Name); err != nil {
		return wire.Errorf(wire.Malformed, "%v", err)
	}
	if body.Use == "" {
		body.Use = bundle.Enforce
	}
	if body.Use != bundle.Enforce && body.Use != bundle.Shadow {
		return wire.Errorf(wire.Malformed, "use is enforce or shadow")
	}
	have, err := revision(req.Header)
	if err != nil {
		return err
	}
	found, err := s.opts.Policies.Get(ctx, body.Name, body.Use, body.Serial)
	if err != nil {
		return err
	}
	if found.Revision == have {
		found.Raw = nil
	}
	return req.Reply(revised(found.Revision), found.Raw)
}

func revision(h wire.Header) (uint64, error) {
	text := wire.Get(h, wire.HeaderRevision)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, wire.Errorf(wire.Malformed, "%s must be a number", wire.HeaderRevision)
	}
	return n, nil
}

func revised(n uint64) wire.Header {
	return wire.Header{wire.HeaderRevision: {strconv.FormatUint(n, 10)}}
}
