package dispatch

import (
	"context"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// maxReasked bounds how often people are asked again about one event because its session got
// labels. After that the event waits for its last request.
const maxReasked = 16

// requestOf returns the approval request of an event, nil for none, and the id that it has or
// gets. It ends an open request that is outdated and goes on to the next one.
func (d *Dispatcher) requestOf(ctx context.Context, ev *event, sent string) (id string, s *held.Event, err error) {
	id = ev.approvalID()
	for n := 0; ; n++ {
		if s, err = d.approvals.Find(ctx, id, ev.id(), sent); s == nil || err != nil || n == maxReasked {
			return id, s, err
		}
		if over, err := d.outdated(ctx, s); !over || err != nil {
			return id, s, err
		}
		id = approval.IDAfter(id)
	}
}

// outdated reports whether a request ended because its session got labels before anybody
// answered. It ends an open request that is outdated.
func (d *Dispatcher) outdated(ctx context.Context, s *held.Event) (bool, error) {
	decision, err := d.approvals.Decision(ctx, s)
	if err != nil {
		return false, err
	}
	if decision == nil {
		more, err := d.moreLabels(s, s.Labels)
		if len(more) == 0 || err != nil {
			return false, err
		}
		_, err = d.approvals.Decide(ctx, s, approval.Outdated(more, d.approvals.Now()), events.NewID())
		if code := wire.CodeOf(err); code != wire.Conflict && code != wire.Gone {
			return err == nil, err
		}
		if decision, err = d.approvals.Decision(ctx, s); decision == nil || err != nil { // another replica decided first
			return false, err
		}
	}
	return decision.DecidedBy == approval.ByOutdated, nil
}
