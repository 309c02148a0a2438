package nats

import (
	"context"
	"time"

	"github.com/hookrouter/hookrouter/internal/freeze"
	"github.com/hookrouter/hookrouter/internal/natsx/service"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// readDisabling reads which hook to disable or enable.
func readDisabling(req *service.Request) (id, reason string, err error) {
	var body struct {
		ID     string `json:"id"`
		Reason string `json:"reason"`
	}
	if err := readBody(req, &body); err != nil {
		return "", "", err
	}
	if err := events.CheckHookID(body.ID); err != nil {
		return "", "", wire.Errorf(wire.Malformed, "%v", err)
	}
	return body.ID, body.Reason, nil
}

// disabled is the reply to a disable.
type disabled struct {
	ID string `json:"id"`
	registry.Disabled
	Registered bool `json:"registered"`
}

// disable takes a hook out of every chain. It refuses a pinned guard, which must be unpinned
// first.
func (s *Server) disable(ctx context.Context, req *service.Request) error {
	id, reason, err := readDisabling(req)
	if err != nil {
		return err
	}
	if err := (freeze.Order{Reason: reason}).Check(); reason != "" && err != nil {
		return wire.Errorf(wire.Malformed, "%v", err)
	}
	if err := s.opts.Guards.CheckRemoval(id); err != nil {
		return err
	}
	order := registry.Disabled{By: s.changer(req), Reason: reason, Time: time.Now().UTC()}
	if order, err = s.opts.Registry.Disable(ctx, id, order); err != nil {
		return err
	}
	return replyJSON(req, disabled{id, order, s.opts.Registry.Registered(id) != nil})
}

// enable lets a hook be called again.
func (s *Server) enable(ctx context.Context, req *service.Request) error {
	id, _, err := readDisabling(req)
	if err != nil {
		return err
	}
	was, err := s.opts.Registry.Enable(ctx, s.changer(req), id)
	if err != nil {
		return err
	}
	return replyJSON(req, struct {
		Enabled bool `json:"enabled"`
	}{was})
}
