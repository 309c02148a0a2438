package dispatch

import (
	"context"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Resume waits for an approval request by its id, as if its event was sent again. req says who
// asks and how long to wait; it has no event. Other senders get the same error as for an unknown
// id.
func (d *Dispatcher) Resume(ctx context.Context, id string, req Request) (*Answer, error) {
	if d.opts.NoApprovals {
		return nil, held.Unknown(id)
	}
	s, err := d.approvals.Load(ctx, id)
	if err != nil {
		return nil, err
	}
	if req.Emitter == "" || s.Emitter != req.Emitter {
		return nil, held.Unknown(id)
	}
	req.Retry = true
	req.Event = events.Event{ID: s.EventID, Source: s.Agent, Name: s.Event, Session: s.Session}
	return d.handle(ctx, verbExecute, req, func(ev *event) (*Answer, error) {
		if ev.frozen != nil {
			d.noteHeldRefused(s, "frozen", ev.frozen.Reason)
			v := denied(s.Verdict, ev.frozen.Denial())
			return &Answer{EventID: ev.id(), ChainID: s.ChainID, Called: s.Called, Body: d.ofVerdict(v, s.ChainID).Append(nil)}, nil
		}
		if _, err := d.outdated(ctx, s); err != nil {
			return nil, err
		}
		return d.join(ctx, ev, s)
	})
}
