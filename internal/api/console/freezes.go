package console

import (
	"context"
	"net/http"
	"time"

	"github.com/hookrouter/hookrouter/internal/freeze"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// freezeTimeout bounds a freeze. It is longer than a lease, which a dead replica may make it
// wait for.
const freezeTimeout = 30 * time.Second

// Freezer freezes agents and lists what is frozen.
type Freezer interface {
	// Freeze puts an order into force. After it returns, no replica permits anything that the
	// order covers.
	Freeze(ctx context.Context, order freeze.Order) error
	Freezes() ([]freeze.Order, error)
}

// frozen is the body of the list of frozen agents.
type frozen struct {
	Orders []freeze.Order `json:"orders"`
	// MayFreeze says whether the person who asks may freeze.
	MayFreeze bool `json:"may_freeze"`
}

var errNoFreezes = wire.Errorf(wire.Unavailable, "this console can't freeze agents")

// listFreezes answers GET /v1/freeze.
func (c *Console) listFreezes(_ http.ResponseWriter, r *http.Request) (any, error) {
	if c.o.Freezer == nil {
		return nil, errNoFreezes
	}
	orders, err := c.o.Freezer.Freezes()
	if err != nil {
		return nil, err
	}
	if orders == nil {
		orders = []freeze.Order{}
	}
	return frozen{orders, c.may(c.o.MayFreeze, who(r))}, nil
}

// freeze answers POST /v1/freeze, once no replica permits anything that the order covers.
func (c *Console) freeze(w http.ResponseWriter, r *http.Request) (any, error) {
	order, err := c.readOrder(w, r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), freezeTimeout)
	defer cancel()
	if err := c.o.Freezer.Freeze(ctx, order); err != nil {
		return nil, err
	}
	c.o.Log.Warn("agents frozen", "scope", order.Scope(), "agent", order.Agent, "session_id", order.Session, "by", order.By, "address", r.RemoteAddr)
	return order, nil
}

// MayFreeze returns the recorded name of the sender of a request that [Console.Protect] admitted, and
// whether that person may freeze agents.
func (c *Console) MayFreeze(r *http.Request) (name string, ok bool) {
	name = who(r)
	return name, c.may(c.o.MayFreeze, name)
}

func (c *Console) readOrder(w http.ResponseWriter, r *http.Request) (order freeze.Order, err error) {
	switch {
	case c.o.Freezer == nil:
		return order, errNoFreezes
	case !c.may(c.o.MayFreeze, who(r)):
		return order, wire.Errorf(wire.Forbidden, "%s may not freeze agents: the operator grants that right with --console-freeze", who(r))
	}
	body, err := readBody(w, r)
	if err != nil {
		return order, err
	}
	var asked freeze.Request
	if err := decode(body, &asked); err != nil {
		return order, wire.Errorf(wire.Malformed, `the body is not an order: it must be a JSON object such as {"all":true,"reason":"…"} (all, agent or session_id, and reason), each name once and with its type`)
	}
	if order, err = asked.Order(who(r)); err == nil {
		err = order.Check()
	}
	if err != nil {
		return order, wire.Errorf(wire.Malformed, "%v", err)
	}
	return order, nil
}
