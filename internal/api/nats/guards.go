package nats

import (
	"context"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx/service"
	"github.com/hookrouter/hookrouter/internal/pinned"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// guards lists the guards pinned in this replica's file and by order.
func (s *Server) guards(_ context.Context, req *service.Request) error {
	list, err := s.opts.Guards.List(s.opts.Registry.Registered)
	if err != nil {
		return err
	}
	for i := range list {
		if s.opts.Registry.IsDisabled(list[i].ID) {
			list[i].InForce, list[i].Why = false, "it is disabled: enable it with `hookctl hook enable`"
		}
	}
	return replyJSON(req, list)
}

// pin pins a guard.
func (s *Server) pin(ctx context.Context, req *service.Request) error {
	var guard pinned.Guard
	if err := readBody(req, &guard); err != nil {
		return err
	}
	if err := guard.Check(); err != nil {
		return wire.Errorf(wire.Malformed, "%v", err)
	}
	if err := s.opts.Compile(chain.Registration{ID: guard.ID, Events: guard.Events, Match: guard.Match}); err != nil {
		return wire.Errorf(wire.Malformed, "guard %q: %v", guard.ID, err)
	}
	if s.opts.Registry.IsDisabled(guard.ID) {
		return wire.Errorf(wire.Conflict, "hook %q is disabled: enable it first", guard.ID)
	}
	order := pinned.Order{Guard: guard, By: s.changer(req), Time: time.Now().UTC()}
	if err := s.opts.Guards.CheckOrder(order); err != nil {
		return err
	}
	if err := s.opts.Registry.Pin(ctx, order); err != nil {
		return err
	}
	return replyJSON(req, order.Listing(s.opts.Registry.Registered))
}

// unpinned is the reply to an unpin.
type unpinned struct {
	Unpinned bool `json:"unpinned"`
	InFile   bool `json:"in_file"` // the guard is also in the file of --guards, and so stays pinned
}

// unpin lifts the order about a guard.
func (s *Server) unpin(ctx context.Context, req *service.Request) error {
	var body struct {
		ID string `json:"id"`
	}
	if err := readBody(req, &body); err != nil {
		return err
	}
	if err := events.CheckHookID(body.ID); err != nil {
		return wire.Errorf(wire.Malformed, "%v", err)
	}
	done, err := s.opts.Registry.Unpin(ctx, s.changer(req), body.ID)
	if err != nil {
		return err
	}
	return replyJSON(req, unpinned{done, s.opts.Guards.InFile(body.ID)})
}
