package nats

import (
	"context"
	"strconv"
	"time"

	"github.com/hookrouter/hookrouter/internal/bundle"
	"github.com/hookrouter/hookrouter/internal/bundle/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// policyTimeout bounds a read or a write of the store.
const policyTimeout = 5 * time.Second

// pushPolicy stores a signed policy. Its signature is for the workers to check.
func (s *Server) pushPolicy(ctx context.Context, req *natsx.Request) error {
	said, err := bundle.Claimed(req.Data)
	if err != nil {
		return wire.Errorf(wire.Malformed, "the policy can't be read: %v", err)
	}
	at, err := revision(req.Header)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, policyTimeout)
	defer cancel()
	now, err := s.opts.Policies.Put(ctx, said, req.Data, at)
	if err != nil {
		return err
	}
	s.log.Info("policy pushed", "policy", said.Version(), "use", string(said.Use), "by", s.changer(req))
	return req.Reply(revised(now), nil)
}

// getPolicy answers a stored policy, without a body where there is none, or the one that
// the request names is still the newest.
func (s *Server) getPolicy(ctx context.Context, req *natsx.Request) error {
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
	ctx, cancel := context.WithTimeout(ctx, policyTimeout)
	defer cancel()
	var found store.Entry
	if found, err = s.opts.Policies.Get(ctx, body.Name, body.Use, body.Serial); err != nil {
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
