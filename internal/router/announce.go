package router

import (
	"context"
	"encoding/json"

	"github.com/hookrouter/hookrouter/internal/approvals"

	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// announce tells watchers, and the hooks of an event of the router's own, that it
// happened. Such hooks are told and not asked, whatever their mode; and nothing
// follows from it. ctx names the span that it is about.
func (r *Router) announce(ctx context.Context, name, sessionID string, data []byte) {
	a := &arrival{
		Event:   events.Event{ID: events.NewID(), Source: events.DefaultSource, Name: name, Session: sessionID, Time: events.Now(), Data: data},
		chainID: events.NewID(),
	}
	a.header = a.attributes(wire.RequestHeader{Traceparent: telemetry.Traceparent(ctx)})
	r.publish(a, r.bus.Event("event", name), a.header, data)
	table, err := r.registry.Table()
	if err != nil {
		return // not current: its hooks are another replica's business
	}
	a.links = table.For(name, sessionID)
	r.observe(a, a.links, data)
}

// announceQuestion tells that a person is asked. The list of open questions shows
// it already.
func (r *Router) announceQuestion(s *approvals.Stored) {
	q := r.desk.Masked(s.Request)
	ctx := r.tracer.Asked(aboutQuestion(s, nil))
	if r.Notify != nil {
		r.Notify(ctx, approval.Notice{Request: q})
	}
	r.announce(ctx, events.ApprovalRequired, s.Session, q.Append(nil))
	about, _ := json.Marshal(map[string]string{"approval_id": s.ID, "event": s.Event, "hook": s.Hook})
	note, _ := json.Marshal(events.UserNotificationData{
		SessionID: s.Session, NotificationType: "approval_required", Message: "Approval needed: " + q.Prompt, Metadata: about, Timestamp: events.Now(),
	})
	r.announce(ctx, events.UserNotification, s.Session, note)
}

// announceDecision tells what was decided. ctx is that of who decided.
func (r *Router) announceDecision(ctx context.Context, s *approvals.Stored, d approval.Decision) {
	ctx = r.tellDecision(ctx, s, d)
	q := r.desk.Masked(s.Request)
	if r.Notify != nil {
		r.Notify(ctx, approval.Notice{Request: q, Decision: &d})
	}
	name := events.ApprovalDenied
	if d.Granted {
		name = events.ApprovalGranted
	}
	record := approval.Record{Request: q, EventID: s.EventID, ChainID: s.ChainID, HookID: s.HookID, Agent: s.Agent, ToolName: s.ToolName, Decision: &d}
	r.announce(ctx, name, s.Session, record.Append(nil))
}

// observe publishes data to hooks that are not asked.
func (r *Router) observe(a *arrival, links []*chain.Entry, data []byte) {
	view := &chain.View{Event: a.Name, Session: a.Session, Data: data}
	for _, link := range links {
		if link.Condition != nil {
			if wanted, err := link.Condition(view); err != nil || !wanted {
				continue
			}
		}
		h := caller{r, a, nil, nil}.callHeader(chain.Observe, link, 0)
		if err := r.bus.Publish(r.bus.Call(link.ID), h, data); err != nil {
			r.Log.WarnContext(a.trace.Context(), "could not tell an observer", "hook", link.ID, "error", err)
		}
	}
}
