package dispatch

import (
	"context"
	"slices"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Approvers knows which approvals the operator requires and which people exist. It may change
// between two events.
type Approvers interface {
	// Needs returns the approval that the operator requires for a hook's question, besides the
	// hook's own; nil for none.
	Needs(hook, event string) *chain.Approval
	// Impossible says why nobody can approve what sender asks for; empty if enough people can.
	Impossible(a *chain.Approval, sender string) string
}

// needs is the strictest approval that the registrations of the asking hooks and the operator
// require; nil if anybody may answer.
func (d *Dispatcher) needs(ev *event, out chain.Outcome) *chain.Approval {
	var list []*chain.Approval
	for _, call := range out.Calls {
		if call.Result.Action == chain.AskUser {
			list = append(list, call.Entry.Approval, d.opts.Approvers.Needs(call.Entry.ID, ev.name()))
		}
	}
	return chain.Stricter(list...)
}

// requireApprovers turns a request into one that several people must allow. It offers no "Allow
// always", and a time-out denies.
func requireApprovers(q *approval.Request, needs *chain.Approval) {
	q.Needs, q.Default = needs, approval.DefaultDeny
	q.Options = answerable(slices.DeleteFunc(slices.Clone(q.Options), approval.Remembered))
}

// Reviewed records an answer that does not end the request.
func (d *Dispatcher) Reviewed(ctx context.Context, s *held.Event, r approval.Review) error {
	action := "pass"
	if r.Allows() {
		action = "allow"
	}
	line := recordOf(s, audit.ApprovalReviewed, action, audit.Review{
		ApprovalID: s.ID, By: r.By, Person: r.Person, ClaimedBy: r.Claimed, Option: r.Option, Note: d.view.Text(r.Note), DataSHA256: s.DataSHA256,
	})
	line.Time = r.Time.Time
	return d.journal.Record(ctx, line.Append(nil))
}

// Waits reports that a request still waits for others to answer.
func (d *Dispatcher) Waits(ctx context.Context, s *held.Event) {
	last := s.Reviews[len(s.Reviews)-1]
	d.log.InfoContext(ctx, "approval waits for others", "approval_id", s.ID, "event_id", s.EventID, "chain_id", s.ChainID, "by", last.By, "progress", s.Progress)
	q := d.approvals.Masked(s.Request)
	d.opts.Notify(ctx, approval.Notice{Request: q, Emitter: s.Emitter})
	d.report(ctx, approval.EventReviewed, s.Session, q.Append(nil))
}
