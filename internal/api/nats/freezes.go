package nats

import (
	"context"

	"github.com/hookrouter/hookrouter/internal/freeze"
	"github.com/hookrouter/hookrouter/internal/natsx/service"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// readOrder reads what to freeze or to thaw.
func (s *Server) readOrder(req *service.Request) (freeze.Order, error) {
	var body freeze.Request
	if err := readBody(req, &body); err != nil {
		return freeze.Order{}, err
	}
	order, err := body.Order(s.changer(req))
	if err != nil {
		return order, wire.Errorf(wire.Malformed, "%v", err)
	}
	return order, nil
}

// freeze denies everything that an order covers.
func (s *Server) freeze(ctx context.Context, req *service.Request) error {
	order, err := s.readOrder(req)
	if err != nil {
		return err
	}
	if err := order.Check(); err != nil {
		return wire.Errorf(wire.Malformed, "%v", err)
	}
	if err := s.dispatch.Freeze(ctx, order); err != nil {
		return err
	}
	return replyJSON(req, order)
}

// thaw lifts an order.
func (s *Server) thaw(ctx context.Context, req *service.Request) error {
	order, err := s.readOrder(req)
	if err != nil {
		return err
	}
	thawed, err := s.dispatch.Thaw(ctx, order)
	if err != nil {
		return err
	}
	return replyJSON(req, struct {
		Thawed bool `json:"thawed"`
	}{thawed})
}

// frozen lists the orders in force.
func (s *Server) frozen(_ context.Context, req *service.Request) error {
	list, err := s.opts.Registry.Freezes()
	if err != nil {
		return err
	}
	return replyJSON(req, list)
}
