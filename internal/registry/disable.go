package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// disabledKey prefixes the keys of disabled hooks. The hook's id follows.
const disabledKey = "disabled."

// maxDisabled bounds the disabled hooks.
const maxDisabled = 1000

// Disabled is an operator's order that no event reaches a hook, whoever registers it.
type Disabled struct {
	By     string    `json:"by,omitempty"` // the operator, if the connection proves one
	Reason string    `json:"reason,omitempty"`
	Time   time.Time `json:"time"`

	revision uint64
}

// Disable takes a hook out of every chain and channel until [Registry.Enable], even while it is not
// registered and across registrations. After it returns without an error, no replica that accepts
// an event calls the hook. It returns the order in force: an earlier one stays unless d has another
// reason. The caller decides whether the hook may be disabled.
func (r *Registry) Disable(ctx context.Context, id string, d Disabled) (Disabled, error) {
	body, err := json.Marshal(d)
	if err != nil {
		return d, fmt.Errorf("disable a hook: %w", err)
	}
	inForce := d
	change := Change{Action: "disabled", Hook: id, By: d.By, Reason: d.Reason}
	_, err = r.writeDisabled(ctx, change, func(old Disabled) (bool, []byte, error) {
		if old.revision == 0 && len(r.disabled.known()) >= maxDisabled {
			return false, nil, wire.Errorf(wire.Overloaded, "%d hooks are disabled, which is the limit: enable some", maxDisabled)
		}
		if old.inForce() && (d.Reason == "" || old.Reason == d.Reason) {
			inForce = old
			return false, nil, nil
		}
		return true, body, nil
	})
	return inForce, err
}

// Enable lets a hook be called again and reports whether it was disabled. It returns when every
// replica knows.
func (r *Registry) Enable(ctx context.Context, by, id string) (was bool, err error) {
	change := Change{Action: "enabled", Hook: id, By: by}
	return r.writeDisabled(ctx, change, func(old Disabled) (bool, []byte, error) { return old.inForce(), nil, nil })
}

// writeDisabled writes the order about one hook and counts it.
func (r *Registry) writeDisabled(
	ctx context.Context, change Change, next func(old Disabled) (write bool, body []byte, err error),
) (wrote bool, err error) {
	if wrote, err = r.disabled.write(ctx, change, next); wrote {
		r.options.Changed(change.Action, change.Hook)
	}
	return wrote, err
}

// readDisabled reads the record of an order. One that can't be read is not in force.
func (r *Registry) readDisabled(id string, e natsx.Entry, _ Disabled) Disabled {
	if e.Value == nil {
		return Disabled{}
	}
	order := Disabled{revision: e.Revision}
	if err := json.Unmarshal(e.Value, &order); err != nil {
		r.options.Log.Error("order about a disabled hook unreadable; the hook is enabled", "hook", id, "error", err)
		order.Time = time.Time{}
	}
	return order
}

func (d Disabled) at() uint64 { return d.revision }

// inForce is false for no order, and for one that can't be read.
func (d Disabled) inForce() bool { return !d.Time.IsZero() }

// IsDisabled reports whether a hook is disabled, as far as this replica knows.
func (r *Registry) IsDisabled(id string) bool { return r.disabled.known()[id].inForce() }
