package reload

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// channelsSuffix is the suffix of the id of a hook's contributions.
const channelsSuffix = "-channels"

// leaveWithin bounds the removal of one registration.
const leaveWithin = 5 * time.Second

// offer is one registration of a file.
type offer struct {
	reg  chain.Registration
	form *form
}

// offersOf returns the registrations of a file, in its order. Each holds a reference to its form,
// even if there is an error.
func offersOf(file *workerfile.File) (offers []offer, err error) {
	taken := map[string]bool{}
	for _, h := range slices.Concat(file.Hooks, file.Contributors) {
		taken[h.Registration.ID] = true
	}
	for _, h := range file.Hooks {
		f := newForm(h)
		offers = append(offers, offer{h.Registration, f})
		if len(h.Contributors) == 0 {
			continue
		}
		f.holds.Add(1)
		reg := contributions(h)
		offers = append(offers, offer{reg, f})
		if taken[reg.ID] {
			err = h.Wrong(fmt.Errorf("the id %q %w", reg.ID, errTaken))
		} else if wrong := reg.Check(); wrong != nil {
			err = h.Wrong(wrong)
		}
	}
	for _, h := range file.Contributors {
		offers = append(offers, offer{h.Registration, newForm(h)})
	}
	return offers, err
}

// Registrations returns the registrations of the hooks of a file, in the order in which a set
// registers them. The error is a [*workerfile.Error].
func Registrations(file *workerfile.File) ([]chain.Registration, error) {
	offers, err := offersOf(file)
	var list []chain.Registration
	for _, o := range offers {
		list = append(list, o.reg)
	}
	return list, err
}

// contributions returns the registration of a hook's contributions.
func contributions(h workerfile.Hook) chain.Registration {
	return chain.Registration{
		ID: h.Registration.ID + channelsSuffix, Name: h.Registration.Name, Version: h.Registration.Version,
		Channels: slices.Sorted(maps.Keys(h.Contributors)),
	}
}

// changing is the change of a set from one version of the file to another.
type changing struct {
	*Set
	Changes
	forward []func()                // commits the change; can't fail
	back    []func(context.Context) // undoes the change
}

// take registers one hook of the new file. Until the change is committed, the new hook answers only
// the events that the old one does not want.
func (c *changing) take(ctx context.Context, o offer) error {
	id := o.reg.ID
	m := c.member(id)
	registered := m != nil && o.reg.Content() == m.reg.Content() && o.reg.Version == m.reg.Version
	if registered && m.form.Same(o.form.Hook) {
		c.Same = append(c.Same, id)
		return nil
	}
	o.form.start()
	switch {
	case m == nil:
		return c.join(ctx, o)
	case !registered:
		return c.alter(ctx, m, o)
	}
	c.Changed = append(c.Changed, id)
	old := m.form
	c.forward = append(c.forward, func() {
		m.slot.lead(o.form)
		m.slot.drop(old)
		m.form = o.form
	})
	return nil
}

// join adds a registration.
func (c *changing) join(ctx context.Context, o offer) (err error) {
	m := &member{reg: o.reg, form: o.form, slot: &slot{}}
	m.slot.lead(o.form)
	done := c.Registering(o.form.Hook, o.reg)
	if len(o.reg.Channels) > 0 {
		m.leave, err = c.worker.RegisterContributor(ctx, o.reg, m.slot.contribute)
	} else {
		m.leave, err = c.worker.Register(ctx, o.reg, m.slot.answer)
	}
	done(err)
	if err != nil {
		m.slot.clear()
		return err
	}
	c.New = append(c.New, o.reg.ID)
	c.forward = append(c.forward, func() { c.members = append(c.members, m) })
	c.back = append(c.back, func(ctx context.Context) { c.remove(ctx, m) })
	return nil
}

// alter changes a registration.
func (c *changing) alter(ctx context.Context, m *member, o offer) error {
	old, slot := m.form, m.slot
	slot.follow(o.form)
	done := c.Registering(o.form.Hook, o.reg)
	undo, err := c.worker.Update(ctx, o.reg)
	done(err)
	if err != nil {
		c.later(func() { slot.drop(o.form) }) // o.form may have been in use
		return err
	}
	c.Changed = append(c.Changed, o.reg.ID)
	c.forward = append(c.forward, func() {
		slot.lead(o.form)
		m.reg, m.form = o.reg, o.form
		c.later(func() { slot.drop(old) })
	})
	c.back = append(c.back, func(ctx context.Context) {
		if err := undo(ctx); err != nil {
			c.Log.Warn("registration not restored; its renewal retries", "hook", o.reg.ID, "error", err)
		}
		c.later(func() { slot.drop(o.form) })
	})
	return nil
}

// decide commits the change.
func (c *changing) decide() {
	for _, do := range c.forward {
		do()
	}
}

// takeBack undoes the change in reverse order.
func (c *changing) takeBack(ctx context.Context) {
	for _, undo := range slices.Backward(c.back) {
		if ctx.Err() == nil {
			undo(ctx)
		}
	}
}

// takeOff removes the registrations that the file no longer has.
func (c *changing) takeOff(ctx context.Context, offers []offer) {
	c.members = slices.DeleteFunc(c.members, func(m *member) bool {
		if slices.ContainsFunc(offers, func(o offer) bool { return o.reg.ID == m.reg.ID }) {
			return false
		}
		c.remove(ctx, m)
		c.Removed = append(c.Removed, m.reg.ID)
		return true
	})
}

func (c *changing) remove(ctx context.Context, m *member) {
	ctx, cancel := context.WithTimeout(ctx, leaveWithin)
	defer cancel()
	if err := m.leave(ctx); err != nil {
		c.Log.Warn("hook not unregistered; it expires with its time-to-live", "hook", m.reg.ID, "error", err)
	}
	if m.reg.StaysRegistered() {
		c.Log.Warn("durable hook removed from the file; it stays registered, and without workers its on_failure decides",
			"hook", m.reg.ID, "remove_with", "hookctl hook rm "+m.reg.ID, "on_failure", m.reg.WithDefaults().OnFailure)
	}
	c.later(m.slot.clear)
}
