package dispatch

import (
	"cmp"
	"maps"
	"slices"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// approvalRequest builds the approval request for an event, ready to be stored.
func (d *Dispatcher) approvalRequest(ev *event, out chain.Outcome, v verdict.Verdict) (*held.Event, error) {
	changes, err := approval.Changes(ev.sent(), v.Data)
	if err != nil {
		return nil, wire.Errorf(wire.Internal, "show what hooks changed: %v", err)
	}
	object, err := events.ParseObject(v.Data)
	if err != nil {
		return nil, wire.Errorf(wire.Internal, "read the data to ask about: %v", err)
	}
	asker, adds := ev.askerOf(out), labelsOf(out.Calls)
	unlabel := events.NewLabels(slices.Collect(maps.Keys(adds)), asker.Result.Unlabel) // labels that the event adds stay
	now := approval.At(d.approvals.Now())
	s := &held.Event{Sent: approval.Digest(ev.sent()), Arrived: ev.admitted, Trace: ev.traceparent(), Verdict: v, Called: called(out)}
	s.Request = approval.Request{
		ID: ev.approvalID(), Session: ev.session(), Event: ev.name(), Hook: asker.Entry.Title(),
		Prompt: unlabeling(promptOf(asker), unlabel), Options: offered(asker.Result),
		Default: string(cmp.Or(asker.Result.ApprovalDefault, chain.Deny)),
		Created: now, Expires: approval.At(now.Add(approval.Timeout(asker.Result.ApprovalTimeout))),
		DataSHA256: approval.Digest(v.Data),
	}
	if needs := d.needs(ev, out); needs != nil {
		requireApprovers(&s.Request, needs)
	}
	s.EventID, s.ChainID, s.HookID, s.Agent, s.Reason = ev.id(), ev.chainID, asker.Entry.ID, ev.request.Event.Source, asker.Result.Reason
	s.Emitter, s.Labels, s.Unlabel, s.AddedLabels = ev.request.Emitter, events.UnionLabels(ev.request.Event.Labels(), out.Labels), unlabel, adds
	s.ToolName, _ = object.GetString("tool_name")
	s.Content, s.Root = ev.grantContent(asker, object), cmp.Or(ev.request.Event.Extensions[events.AttrRoot], s.Session)
	s.Questions, s.Data, s.Changes = ev.questions(), v.Data, changes
	s.Verdict.Data = nil // it is in s.Data
	return s, nil
}

// askerOf returns the call whose question the chain kept: that of the pinned guards, or the
// first.
func (ev *event) askerOf(out chain.Outcome) chain.Call {
	if ev.asker != nil {
		return *ev.asker
	}
	for _, call := range out.Calls {
		if call.Result.Action == chain.AskUser {
			return call
		}
	}
	return chain.Call{Entry: &chain.Entry{}}
}

// grantContent is the digest of what an "Allow always" covers besides the hook and the prompt: the
// tool and its input, or the key that the hook set instead of the input. It is empty if the sender
// is not proven, or if there is neither a tool nor a key.
func (ev *event) grantContent(asker chain.Call, data events.Object) string {
	if ev.request.Emitter == "" {
		return ""
	}
	asking := ev.asking
	if asking == nil {
		asking = []chain.Call{asker}
	}
	content, hasTool := data.ToolContent(ev.name())
	tool, _ := data.Tool(ev.name())
	var parts []string
	for _, call := range asking {
		switch key := call.Result.ApprovalKey; {
		case key != "":
			parts = append(parts, "key", tool.Name, key)
		case hasTool:
			parts = append(parts, "input", string(content))
		}
	}
	if parts == nil {
		return ""
	}
	w := events.NewObjectWriter(nil)
	w.Texts("parts", parts)
	return approval.Digest(w.End())
}

// facts returns what rules may match an approval request by. seen are the current labels of its
// session.
func (ev *event) facts(s *held.Event, seen []string) approval.Facts {
	f := approval.Facts{
		Hook: s.Hook, Tool: s.ToolName, Prompt: s.Prompt, Questions: s.Questions,
		Labels: seen, Emitter: ev.request.Emitter, Role: events.RoleOf(ev.request.Emitter),
		Root: cmp.Or(ev.request.Event.Extensions[events.AttrRoot], ev.session()), Depth: ev.depth(),
		DenyOnly: s.Needs != nil,
	}
	return f.WithCall(ev.name(), s.Data)
}

func approvalOf(s *held.Event) *verdict.Approval {
	return &verdict.Approval{
		ID: s.ID, Hook: s.Hook, Prompt: s.Prompt, Options: s.Options, Expires: s.Expires.String(), DataSHA256: s.DataSHA256,
	}
}
