package dispatch

import (
	"context"
	"strings"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// rejoin answers a repeated event from its approval request, if it has one. It refuses an event
// whose request was about other data.
func (d *Dispatcher) rejoin(ctx context.Context, ev *event) (*Answer, error) {
	if !ev.request.Retry && d.approvals.Empty() {
		return nil, nil
	}
	id, digest := ev.approvalID(), func() string { return approval.Digest(ev.sent()) }
	if err := d.approvals.CheckData(id, ev.id(), digest); err != nil || !ev.request.Retry {
		return nil, err
	}
	last, s, err := d.requestOf(ctx, ev, digest())
	if err != nil {
		return nil, err
	}
	if s == nil {
		if last != id { // its session got labels, maybe since the event was admitted
			var now []string
			if now, err = d.labels.Labels(labeled(ev.request)); err == nil {
				ev.request.Event = ev.request.Event.WithLabels(now...)
			}
		}
		return nil, err
	}
	return d.join(ctx, ev, s)
}

// join answers an event from its approval request.
func (d *Dispatcher) join(ctx context.Context, ev *event, s *held.Event) (*Answer, error) {
	if err := d.replay(ctx, ev, s); err != nil {
		return nil, err
	}
	if err := d.decideByRule(ctx, ev, s, ev.request.Event.Labels()); err != nil {
		return nil, err
	}
	return &Answer{EventID: s.EventID, ChainID: s.ChainID, Called: s.Called, pending: d.pending(ev, s)}, nil
}

// replay checks a repeated event whose approval request is decided. It permits the event again
// for a while after the decision, so that an agent that lost its router gets the answer. It
// refuses with code 410 if the session ended, got labels, or had its approvals revoked. Both
// outcomes are recorded.
func (d *Dispatcher) replay(ctx context.Context, ev *event, s *held.Event) error {
	decision, err := d.approvals.Decision(ctx, s)
	if err != nil || decision == nil || !decision.Granted {
		return err
	}
	why, err := d.replayRefused(ctx, s, decision)
	switch {
	case err != nil:
		return err
	case why != "":
		d.note(d.replayed(ev, s, "refused", why))
		return wire.Errorf(wire.Gone, "the approval of the event %q is no longer valid, since %s: send a new event with a new id", ev.id(), why)
	}
	return d.record(ctx, ev, d.replayed(ev, s, "served", ""))
}

// replayRefused says why a granted event is not permitted again; empty if it is.
func (d *Dispatcher) replayRefused(ctx context.Context, s *held.Event, decision *approval.Decision) (why string, err error) {
	if d.approvals.Now().Sub(decision.Decided.Time) > d.opts.ReplayWindow {
		return "it was given more than " + d.opts.ReplayWindow.String() + " ago", nil
	}
	knew := s.Labels
	if decidedBy(*decision) == telemetry.ByPerson {
		knew = events.NewLabels(s.Unlabel, knew) // the person removed them
	}
	more, err := d.moreLabels(s, knew)
	if err != nil || len(more) > 0 {
		return "the session has seen more: " + strings.Join(more, ", "), err
	}
	past, err := d.sessions.Past(ctx, s)
	if past {
		why = "the session ended, or its approvals were revoked"
	}
	return why, err
}

// replayed records that a granted event was sent again.
func (d *Dispatcher) replayed(ev *event, s *held.Event, action, why string) *records {
	return d.records(ev, func(r *records) {
		r.add(audit.ApprovalReplayed, s.HookID, action, audit.Replay{
			ApprovalID: s.ID, ChainID: s.ChainID, Emitter: ev.request.Emitter, Reason: why, DataSHA256: s.DataSHA256,
		})
	})
}
