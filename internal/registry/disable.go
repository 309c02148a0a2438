package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
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

// Disable takes a hook out of every chain and channel until [Registry.Enable], also while it is
// not registered and across registrations. After it returns without an error, no replica that
// accepts an event calls the hook. It returns the order in force: an earlier one stays unless d
// has another reason. The caller decides whether the hook may be disabled.
func (r *Registry) Disable(ctx context.Context, id string, d Disabled) (Disabled, error) {
	body, err := json.Marshal(d)
	if err != nil {
		return d, fmt.Errorf("disable a hook: %w", err)
	}
	inForce := d
	change := Change{Action: "disabled", Hook: id, By: d.By, Reason: d.Reason}
	_, err = r.writeDisabled(ctx, change, func(old Disabled, all int) (write bool, order []byte, err error) {
		if old.revision == 0 && all >= maxDisabled {
			return false, nil, wire.Errorf(wire.Overloaded, "%d hooks are disabled, which is the limit: enable some, or remove them", maxDisabled)
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
	return r.writeDisabled(ctx, change, func(old Disabled, _ int) (bool, []byte, error) { return old.inForce(), nil, nil })
}

// writeDisabled records and writes the order about one hook. next gets the order in force, with
// revision 0 for none, and the number of orders; it says whether to write, and the new order, nil to
// remove it. writeDisabled returns when every replica knows.
func (r *Registry) writeDisabled(
	ctx context.Context, change Change, next func(old Disabled, all int) (write bool, order []byte, err error),
) (wrote bool, err error) {
	record := r.recorder(ctx)
	err = r.update(ctx, func() (uint64, error) {
		r.mu.Lock()
		old, all := r.disabled[change.Hook], len(r.disabled)
		r.mu.Unlock()
		write, order, err := next(old, all)
		if err != nil || !write {
			return r.read.Load(), err
		}
		if !wrote {
			change.Revision = old.revision
			if err := record(change); err != nil {
				return 0, err
			}
			if _, err := r.writeOrder(ctx, change, disabledKey+change.Hook, order); err != nil {
				return 0, err
			}
			wrote = true
			r.options.Changed(change.Action, change.Hook)
		}
		return 0, natsx.ErrRevision // until this replica has read it: a removal has no revision to return
	})
	return wrote, err
}

// disabling applies a batch. It returns the batch's hooks, then the other table changes that the
// orders cause. Disabled hooks are removed.
func (f *follower) disabling(batch []natsx.Entry, hooks map[string]*hook, changes []chain.Change) []chain.Change {
	for i, c := range changes {
		if f.disabled[c.ID].inForce() {
			changes[i].Entry = nil
		}
	}
	for _, e := range batch {
		id, ok := strings.CutPrefix(e.Key, disabledKey)
		if !ok {
			continue
		}
		order := Disabled{revision: e.Revision}
		if err := json.Unmarshal(e.Value, &order); e.Value != nil && err != nil {
			f.registry.options.Log.Error("order about a disabled hook unreadable; the hook is enabled", "hook", id, "error", err)
			order.Time = time.Time{}
		}
		if f.disabled = maps.Clone(f.disabled); e.Value == nil {
			delete(f.disabled, id)
		} else {
			f.disabled[id] = order
		}
		change := chain.Change{ID: id}
		if h := f.latest(id, hooks); h != nil && !f.disabled[id].inForce() {
			change.Entry = h.entry
		}
		changes = append(changes, change)
	}
	return changes
}

// latest returns a hook as of a batch.
func (f *follower) latest(id string, batch map[string]*hook) *hook {
	if h, now := batch[id]; now {
		return h
	}
	h, _ := f.registry.lookup(id)
	return h
}

// inForce is false for no order, and for one that can't be read.
func (d Disabled) inForce() bool { return !d.Time.IsZero() }

// IsDisabled reports whether a hook is disabled, as far as this replica knows.
func (r *Registry) IsDisabled(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.disabled[id].inForce()
}
