package dispatch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/freeze"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// leave checks the outcome of a chain right before its answer is sent: it denies an event that was
// frozen since it was admitted, and fails if this replica can't know.
func (d *Dispatcher) leave(ev *event, out chain.Outcome) (chain.Outcome, error) {
	if ev.frozen != nil || out.DeniedBy != "" {
		return out, nil
	}
	order, err := d.freezes.Frozen(ev.request.agent(), ev.session())
	if err != nil {
		d.noteRefused(ev, unavailable, "")
		return out, err
	}
	if order == nil {
		return out, nil
	}
	ev.frozen = order
	d.noteRefused(ev, "frozen", order.Reason)
	out.Result = chain.Denial(order.Denial())
	return out, nil
}

// leaveHeld checks the verdict on an approval request right before it is sent. It denies a
// permission that is frozen, or whose session got labels that the approver did not know of. The
// verdict stays pending if this replica can't know.
func (d *Dispatcher) leaveHeld(s *held.Event, decision *approval.Decision) verdict.Verdict {
	if decision == nil || !decision.Granted {
		return decided(s, decision)
	}
	order, err := d.freezes.Frozen(cmp.Or(s.Emitter, s.Agent), s.Session)
	switch {
	case err != nil:
		return decided(s, nil)
	case order != nil:
		d.noteHeldRefused(s, "frozen", order.Reason)
		return denied(s.Verdict, order.Denial())
	}
	more, err := d.moreLabels(s, s.Labels)
	switch {
	case err != nil:
		return decided(s, nil)
	case len(more) > 0:
		why := approval.Outdated(more, time.Now()).Note
		d.noteHeldRefused(s, "outdated", why)
		return denied(s.Verdict, why)
	}
	return decided(s, decision)
}

// Freeze records an operator's order and puts it into force. After it returns, no replica permits
// anything against it. If the log does not store the record, the order is in force nevertheless,
// and the error says so.
func (d *Dispatcher) Freeze(ctx context.Context, o freeze.Order) error {
	unrecorded := d.recordFreeze(ctx, "frozen", o)
	if err := d.freezes.Freeze(ctx, o); err != nil {
		return err
	}
	d.log.Warn("frozen", "scope", o.Scope(), "agent", o.Agent, "session_id", o.Session, "by", o.By, "reason", o.Reason)
	if unrecorded != nil {
		return fmt.Errorf("the freeze is in force but not recorded: %w", unrecorded)
	}
	return nil
}

// Thaw lifts the order of the same scope, records that and reports whether there was one. If
// there was none, nothing is recorded.
func (d *Dispatcher) Thaw(ctx context.Context, o freeze.Order) (thawed bool, err error) {
	inForce, err := d.freezes.Freezes()
	if err != nil {
		return false, err
	}
	if !slices.ContainsFunc(inForce, func(f freeze.Order) bool { return f.Key() == o.Key() }) {
		return false, nil
	}
	if err := d.recordFreeze(ctx, "thawed", o); err != nil {
		return false, err
	}
	if thawed, err = d.freezes.Thaw(ctx, o); thawed {
		d.log.Warn("thawed", "scope", o.Scope(), "agent", o.Agent, "session_id", o.Session, "by", o.By)
	}
	return thawed, err
}

func (d *Dispatcher) recordFreeze(ctx context.Context, action string, o freeze.Order) error {
	return d.journal.Record(ctx, audit.Record{
		Time: time.Now(), Kind: audit.FreezeKind, Session: o.Session, Action: action,
		Detail: audit.Freeze{Scope: o.Scope(), Agent: o.Agent, By: o.By, Reason: d.view.Text(o.Reason)},
	}.Append(nil))
}
