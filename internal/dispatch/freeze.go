package dispatch

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/freeze"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// leave checks the outcome of a chain as its answer leaves: what was frozen since the
// event was admitted is denied, and a replica that may not know of it any more fails.
func (d *Dispatcher) leave(ev *event, out chain.Outcome) (chain.Outcome, error) {
	if ev.frozen != nil || out.DeniedBy != "" {
		return out, nil
	}
	order, err := d.freezes.Frozen(ev.request.agent(), ev.session())
	if err != nil {
		d.noteRefused(ev)
		return out, err
	}
	if order == nil {
		return out, nil
	}
	ev.frozen = order
	d.noteFrozen(ev.chainID, ev.session(), ev.name(), ev.id(), order)
	out.Result = chain.Denial(order.Denial())
	return out, nil
}

// leaveHeld is the verdict on an approval request as it leaves: a permission is denied
// where it is frozen, and is still pending where this replica can't know that.
func (d *Dispatcher) leaveHeld(s *held.Event, decision *approval.Decision) verdict.Verdict {
	if decision == nil || !decision.Granted {
		return decided(s, decision)
	}
	order, err := d.freezes.Frozen(cmp.Or(s.Emitter, s.Agent), s.Session)
	switch {
	case err != nil:
		return decided(s, nil)
	case order != nil:
		d.noteFrozen(s.ChainID, s.Session, s.Event, s.EventID, order)
		return denied(s.Verdict, order.Denial())
	}
	return decided(s, decision)
}

// noteFrozen records that an agent was denied what the log says it is permitted.
func (d *Dispatcher) noteFrozen(chainID, session, event, eventID string, order *freeze.Order) {
	if d.journal.Enabled() {
		d.journal.Note(audit.Record{
			Time: time.Now(), Kind: audit.ChainRefused, ChainID: chainID, Session: session, Event: event, Action: "frozen", EventID: eventID,
			Detail: audit.Note{Reason: d.view.Text(order.Reason)},
		}.Append(nil))
	}
}

// Freeze puts an operator's order into force, on record. It returns when no replica
// permits anything against it any more. Where the log takes no record, the order is in
// force all the same, and the error says so.
func (d *Dispatcher) Freeze(ctx context.Context, o freeze.Order) error {
	unrecorded := d.recordFreeze(ctx, "frozen", o)
	if err := d.freezes.Freeze(ctx, o); err != nil {
		return err
	}
	d.log.Warn("frozen", "scope", o.Scope(), "agent", o.Agent, "session_id", o.Session, "by", o.By, "reason", o.Reason)
	if unrecorded != nil {
		return fmt.Errorf("it is frozen, and not on record: %w", unrecorded)
	}
	return nil
}

// Thaw lifts the order of the same scope, on record, and reports whether there was one.
func (d *Dispatcher) Thaw(ctx context.Context, o freeze.Order) (thawed bool, err error) {
	if err := d.recordFreeze(ctx, "thawed", o); err != nil {
		return false, err
	}
	if thawed, err = d.freezes.Thaw(ctx, o); thawed {
		d.log.Warn("thawed", "scope", o.Scope(), "agent", o.Agent, "session_id", o.Session, "by", o.By)
	}
	return thawed, err
}

func (d *Dispatcher) recordFreeze(ctx context.Context, action string, o freeze.Order) error {
	if !d.journal.Enabled() {
		return nil
	}
	return d.journal.Record(ctx, audit.Record{
		Time: time.Now(), Kind: audit.FreezeKind, Session: o.Session, Action: action,
		Detail: audit.Freeze{Scope: o.Scope(), Agent: o.Agent, By: o.By, Reason: d.view.Text(o.Reason)},
	}.Append(nil))
}
