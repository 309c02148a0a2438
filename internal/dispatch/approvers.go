package dispatch

import (
	"context"
	"slices"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Approvers knows whose approval the operator asks for, and who there is; it may change
// between two events.
type Approvers interface {
	// Needs is what the question of a hook takes, besides what the hook says; nil for
	// nothing.
	Needs(hook, event string) *chain.Approval
	// Impossible says why nobody can give an approval to what sender asks for; empty
	// where there are enough people.
	Impossible(a *chain.Approval, sender string) string
}

// noApprovers asks for nobody, and knows nobody.
type noApprovers struct{}

func (noApprovers) Needs(string, string) *chain.Approval { return nil }

func (noApprovers) Impossible(*chain.Approval, string) string {
	return "the router knows no people (--approval-groups)"
}

// needs is all that the hooks which asked about an event take, by their registrations and
// by the operator, whichever of them is put to people; nil where anybody may answer.
func (d *Dispatcher) needs(ev *event, out chain.Outcome) *chain.Approval {
	var list []*chain.Approval
	for _, call := range out.Calls {
		if call.Result.Action == chain.AskUser {
			list = append(list, call.Entry.Approval, d.opts.Approvers.Needs(call.Entry.ID, ev.name()))
		}
	}
	return chain.Stricter(list...)
}

// severally makes a request one that several people must allow. No "Allow always" is
// offered, and silence never allows.
func severally(q *approval.Request, needs *chain.Approval) {
	q.Needs, q.Default = needs, approval.DefaultDeny
	q.Options = slices.DeleteFunc(slices.Clone(q.Options), approval.Remembered)
	if !slices.ContainsFunc(q.Options, approval.Grants) || !slices.ContainsFunc(q.Options, refuses) {
		q.Options = approval.DefaultOptions()
	}
}

// Reviewed records an answer that ends nothing.
func (d *Dispatcher) Reviewed(ctx context.Context, s *held.Event, r approval.Review) error {
	action := "pass"
	if r.Allows() {
		action = "allow"
	}
	line := audit.Record{
		Time: r.Time.Time, Kind: audit.ApprovalReviewed, ChainID: s.ChainID, Session: s.Session, Event: s.Event, Hook: s.HookID, Action: action, EventID: s.EventID,
		Detail: audit.Review{ApprovalID: s.ID, By: r.By, Person: r.Person, ClaimedBy: r.Claimed, Option: r.Option, Note: d.view.Text(r.Note), DataSHA256: s.DataSHA256},
	}.Append(nil)
	return d.journal.Record(ctx, line)
}

// Waits reports that an answer ended nothing: others are to answer.
func (d *Dispatcher) Waits(ctx context.Context, s *held.Event) {
	last := s.Reviews[len(s.Reviews)-1]
	d.log.InfoContext(ctx, "approval waits for others", "approval_id", s.ID, "event_id", s.EventID, "chain_id", s.ChainID, "by", last.By, "progress", s.Progress)
	q := d.approvals.Masked(s.Request)
	if d.opts.Notify != nil {
		d.opts.Notify(ctx, approval.Notice{Request: q})
	}
	d.report(ctx, approval.EventReviewed, s.Session, q.Append(nil))
}
