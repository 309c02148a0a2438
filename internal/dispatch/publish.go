package dispatch

import (
	"context"
	"encoding/json"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/policy/redact"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// announce publishes an event for watchers, before its first hook is called.
func (d *Dispatcher) announce(ev *event) {
	data := ev.sent()
	switch d.opts.PublishData {
	case PublishRedacted:
		data, _ = redact.Object(data)
	case PublishNone:
		data = []byte("{}")
	}
	d.published(ev, "event", ev.channel.PublishEvent(data))
}

// published logs a failed publication for watchers. Nothing depends on it.
func (d *Dispatcher) published(ev *event, what string, err error) {
	if err != nil {
		d.log.WarnContext(ev.trace.Context(), "publish for watchers failed", "what", what, "event", ev.name(), "error", err)
	}
}

// result encodes the body of hooks.result.<event>: how a chain went, without data.
func (d *Dispatcher) result(ev *event, out chain.Outcome, approvalID string) []byte {
	reason := out.Result.Reason
	if d.opts.PublishData != PublishFull {
		reason, _ = redact.Text(reason)
	}
	w := events.NewObjectWriter(make([]byte, 0, 256+64*len(out.Calls)))
	w.String("chain_id", ev.chainID)
	w.String("event_id", ev.id())
	w.String("session_id", ev.session())
	w.String("event", ev.name())
	w.String("action", string(out.Result.Action))
	w.Text("reason", reason)
	w.Text("denied_by", out.DeniedBy)
	w.Objects("hooks", len(out.Calls), func(i int, w *events.ObjectWriter) {
		call := &out.Calls[i]
		w.String("id", call.Entry.ID)
		w.Text("action", answered(call))
		w.Int("us", call.Took.Microseconds())
		w.Text("failure", string(call.Failure))
		w.Flag("failed_open", call.FailedOpen)
	})
	w.Text("approval_id", approvalID)
	return w.End()
}

// answered is the action of a call: continue if the hook named none, empty if it failed.
func answered(call *chain.Call) string {
	if call.Result.Action == "" && call.Failure == "" {
		return string(chain.Continue)
	}
	return string(call.Result.Action)
}

// notifyObservers sends the event with the chain's final data to observing hooks, and calls
// async hooks.
func (d *Dispatcher) notifyObservers(ev *event, data []byte) {
	for _, entry := range ev.hooks {
		switch entry.Mode {
		case chain.Observe:
			d.notifyHook(ev, entry, data)
		case chain.Async:
			d.callAsync(ev, entry, data)
		}
	}
}

// wantedBy reports whether a hook's match holds for the event with the chain's final data.
func (ev *event) wantedBy(entry *chain.Entry, data []byte) bool {
	if entry.Condition == nil {
		return true
	}
	in := ev.request.Event
	in.Data = data
	wanted, err := entry.Condition(chain.ViewOf(in))
	return err == nil && wanted
}

func (d *Dispatcher) notifyHook(ev *event, entry *chain.Entry, data []byte) {
	if !ev.wantedBy(entry, data) {
		return
	}
	data, err := d.visible(entry, data)
	if err == nil {
		err = ev.channel.Notify(Call{Hook: entry.ID, Mode: chain.Observe, Data: data, Labels: ev.request.Event.Extensions[events.AttrLabels]})
	}
	if err != nil {
		d.log.WarnContext(ev.trace.Context(), "notify observing hook failed", "hook", entry.ID, "event", ev.name(), "error", err)
	}
}

// report publishes one of the router's own events and notifies its hooks, whatever their mode:
// their answers have no effect. ctx names the span that the event is about.
func (d *Dispatcher) report(ctx context.Context, name, session string, data []byte) {
	req := Request{
		Event:       events.Event{ID: events.NewID(), Source: events.DefaultSource, Name: name, Session: session, Time: events.Now(), Data: data},
		Traceparent: telemetry.Traceparent(ctx),
	}
	ev := &event{request: req, chainID: events.NewID()}
	ev.channel = d.transport.Open(ev.envelope())
	d.published(ev, "event", ev.channel.PublishEvent(data))
	table, err := d.hooks.Table()
	if err != nil {
		return // the hooks are unknown; watchers have the event
	}
	for _, entry := range table.For(name, session) {
		d.notifyHook(ev, entry, data)
	}
}

// reportAsked reports that a person is asked. By then, the list of open requests contains the
// request.
func (d *Dispatcher) reportAsked(s *held.Event) {
	q := d.approvals.Masked(s.Request)
	ctx := d.observer.Asked(asked(s))
	d.opts.Notify(ctx, approval.Notice{Request: q, Emitter: s.Emitter})
	d.report(ctx, events.ApprovalRequired, s.Session, q.Append(nil))
	about, _ := json.Marshal(map[string]string{"approval_id": s.ID, "event": s.Event, "hook": s.Hook})
	note, _ := json.Marshal(events.UserNotificationData{
		SessionID: s.Session, NotificationType: "approval_required", Message: "Approval needed: " + q.Prompt, Metadata: about, Timestamp: events.Now(),
	})
	d.report(ctx, events.UserNotification, s.Session, note)
}

// Decided reports a decision that this replica made. The approvals service calls it with the
// context of whoever decided.
func (d *Dispatcher) Decided(ctx context.Context, s *held.Event, decision approval.Decision) {
	ctx = d.observer.Decided(ctx, decidedBy(decision), decidedAbout(s, decision))
	d.logDecided(ctx, s, decision)
	q := d.approvals.Masked(s.Request)
	d.opts.Notify(ctx, approval.Notice{Request: q, Decision: &decision, Emitter: s.Emitter})
	name := events.ApprovalDenied
	if decision.Granted {
		name = events.ApprovalGranted
	}
	record := approval.Record{Request: q, EventID: s.EventID, ChainID: s.ChainID, HookID: s.HookID, Agent: s.Agent, ToolName: s.ToolName, Decision: &decision}
	d.report(ctx, name, s.Session, record.Append(nil))
}
