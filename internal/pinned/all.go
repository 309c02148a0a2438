package pinned

import (
	"cmp"
	"slices"
	"time"

	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Orders provides the guards that operators pinned by order.
type Orders interface {
	// Pinned returns the guards, or an error with code 503 if this replica can't know them.
	Pinned() (*Guards, error)
	// Pins returns the orders, oldest first. Errors are as for Pinned.
	Pins() ([]Order, error)
}

// All combines the guards of a file and those of orders. Both apply, even to the same guard.
type All struct {
	file   *Guards
	orders Orders
}

// With returns the guards of a file, nil for none, combined with those of orders.
func With(file *Guards, orders Orders) *All { return &All{file, orders} }

// InForce implements [Guards.InForce] for both sets of guards.
func (a *All) InForce(event string, t *chain.Table) ([]*chain.Entry, error) {
	list, err := a.file.InForce(event, t)
	if err != nil {
		return nil, err
	}
	ordered, err := a.orders.Pinned()
	if err != nil {
		return nil, err
	}
	more, err := ordered.InForce(event, t)
	if err != nil || len(more) == 0 {
		return list, err
	}
	for _, entry := range more {
		if !slices.Contains(list, entry) {
			list = append(list, entry)
		}
	}
	slices.SortFunc(list, func(a, b *chain.Entry) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Order, b.Order))
	})
	return list, nil
}

// CheckRegistration implements [Guards.CheckRegistration] for both sets of guards.
func (a *All) CheckRegistration(r chain.Registration) error {
	return a.check(func(g *Guards) error { return g.CheckRegistration(r) })
}

// CheckRemoval implements [Guards.CheckRemoval] for both sets of guards.
func (a *All) CheckRemoval(id string) error {
	return a.check(func(g *Guards) error { return g.CheckRemoval(id) })
}

func (a *All) check(one func(*Guards) error) error {
	if err := one(a.file); err != nil {
		return err
	}
	ordered, err := a.orders.Pinned()
	if err != nil {
		return err
	}
	return one(ordered)
}

// CheckOrder returns an error with code 409 if an order contradicts the file, since no registration
// could satisfy both.
func (a *All) CheckOrder(o Order) error {
	if guard, found := a.file.find(o.ID); found {
		return o.agrees(guard, "the file of --guards says so")
	}
	return nil
}

// InFile reports whether the file pins a guard.
func (a *All) InFile(id string) bool {
	_, found := a.file.find(id)
	return found
}

// Listing describes a pinned guard in a router's list.
type Listing struct {
	Guard
	From    string    `json:"from"` // "file" or "order"
	By      string    `json:"by,omitempty"`
	Time    time.Time `json:"time,omitzero"`
	InForce bool      `json:"in_force"`
	Why     string    `json:"why,omitempty"` // why it is not in force
}

// Registered returns the registration with an id; nil if there is none.
type Registered func(id string) *chain.Registration

// List returns the guards of the file and those of orders.
func (a *All) List(registered Registered) ([]Listing, error) {
	orders, err := a.orders.Pins()
	if err != nil {
		return nil, err
	}
	list := []Listing{}
	for _, guard := range a.file.list() {
		list = append(list, guard.listing("file", registered))
	}
	for _, o := range orders {
		list = append(list, o.Listing(registered))
	}
	return list, nil
}

// Listing returns the order as an element of a router's list.
func (o Order) Listing(registered Registered) Listing {
	one := o.listing("order", registered)
	one.By, one.Time = o.By, o.Time
	return one
}

func (g Guard) listing(from string, registered Registered) Listing {
	one := Listing{Guard: g, From: from}
	switch reg := registered(g.ID); {
	case g.Check() != nil:
		one.Why = "the order can't be read: unpin it and pin it again"
	case reg == nil:
		one.Why = "it is not registered"
	default:
		one.Why = g.weaker(*reg)
	}
	one.InForce = one.Why == ""
	return one
}
