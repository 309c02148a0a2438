package dispatch

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// calls records each call, and the hooks whose match was false.
func (r *records) calls(out chain.Outcome) {
	data := r.ev.data
	for i := range out.Calls {
		call := &out.Calls[i]
		detail := r.call(call)
		r.changed(&detail, call, data)
		if call.Result.Action == chain.Modify && call.Result.Data != nil {
			data = call.Result.Data
		}
		r.add(kindOf(call.Failure), call.Entry.ID, answered(call), detail)
	}
	for _, entry := range out.Skipped {
		r.add(audit.HookSkipped, entry.ID, "skipped", nil)
	}
	for _, call := range out.InVain {
		r.add(audit.HookSkipped, call.Entry.ID, "in_vain", audit.Call{Group: call.Group, Start: call.Start, Took: call.Took})
	}
}

func (r *records) call(call *chain.Call) audit.Call {
	detail := audit.Call{
		Reason: r.view.Text(call.Result.Reason), Rule: r.view.Text(call.Result.Rule), Policy: call.Result.Policy, Failure: string(call.Failure), FailedOpen: call.FailedOpen, Group: call.Group, Start: call.Start, Took: call.Took,
		Labels: call.Result.Labels, Injection: r.view.TextOf(r.ev.session(), call.Result.ContextInjection), Message: r.view.Text(call.Result.UserMessage),
	}
	if call.Err != nil {
		detail.Error = r.view.Text(call.Err.Error())
	}
	return detail
}

// changed adds the data that a hook answered with to its record, if it may reach other hooks or the
// agent.
func (r *records) changed(detail *audit.Call, call *chain.Call, data []byte) {
	if call.Result.Data == nil || !slices.Contains([]chain.Action{chain.Modify, chain.AskUser, chain.InjectContext}, call.Result.Action) {
		return
	}
	detail.Data = r.view.Of(r.ev.session(), call.Result.Data)
	if r.view.DigestOnly() {
		return
	}
	if patch, err := approval.Changes(data, call.Result.Data); err == nil {
		detail.Changes = r.view.Changes(patch)
	}
}

func kindOf(failure chain.Failure) audit.Kind {
	switch failure {
	case "":
		return audit.HookResult
	case chain.FailedTimeout:
		return audit.HookTimeout
	default:
		return audit.HookError
	}
}

// delivered records which injections reached the agent's context and what the user is shown.
func (r *records) delivered(out chain.Outcome, v verdict.Verdict) {
	for i := range out.Calls {
		if call := &out.Calls[i]; call.Result.Action == chain.InjectContext && call.Result.ContextInjection != "" {
			r.injection(call, v)
		}
	}
	for i := range out.Calls {
		r.display(&out.Calls[i])
	}
}

func (r *records) display(call *chain.Call) {
	if call.Result.UserMessage == "" && !call.Result.SuppressOutput {
		return
	}
	action := "shown"
	detail := audit.Display{Message: r.view.Text(call.Result.UserMessage), Suppressed: call.Result.SuppressOutput}
	if detail.Message == "" {
		action = "suppressed"
	} else {
		detail.Level = string(cmp.Or(call.Result.UserMessageLevel, chain.LevelInfo))
	}
	r.add(audit.DisplayKind, call.Entry.ID, action, detail)
}

// injection records whether a hook's text was delivered or dropped: for its size, for the
// budget, or because the event was denied or a person is asked.
func (r *records) injection(call *chain.Call, v verdict.Verdict) {
	text, cleaned := verdict.Clean(call.Result.ContextInjection)
	one := verdict.Injected{Bytes: len(text), Cleaned: cleaned, Dropped: "empty"}
	switch v.Action {
	case verdict.Deny:
		one.Dropped = "denied"
	case verdict.Pending:
		one.Dropped = "asked"
	}
	for _, known := range slices.Concat(v.Injected, v.Dropped) {
		if known.HookID == call.Entry.ID && known.Bytes == len(text) {
			one = known
		}
	}
	action := "delivered"
	if one.Dropped != "" {
		action = "dropped"
	}
	r.add(audit.InjectionKind, call.Entry.ID, action, audit.Injection{
		Role: string(cmp.Or(call.Result.ContextInjectionRole, chain.RoleSystem)), Ephemeral: call.Result.Ephemeral,
		Bytes: one.Bytes, Tokens: one.Tokens, Cleaned: one.Cleaned, Dropped: one.Dropped, Late: call.Entry.Mode == chain.Async, Text: r.view.TextOf(r.ev.session(), text),
	})
}

// approval records that a person is asked.
func (r *records) approval(s *held.Event, again bool) {
	action := "requested"
	if again {
		action = "joined"
	}
	detail := audit.ApprovalRequest{
		ApprovalID: s.ID, Prompt: r.view.Text(s.Prompt), Options: s.Options, Default: s.Default, Expires: s.Expires.Time, DataSHA256: s.DataSHA256,
		ShadowRule: s.ShadowRule, ShadowDecision: s.ShadowDecision,
	}
	if s.Hook != s.HookID {
		detail.HookName = s.Hook
	}
	r.add(audit.ApprovalRequested, s.HookID, action, detail)
}

// result records the end of the chain and the answer to the agent.
func (r *records) result(out chain.Outcome, action, reason, approvalID string) {
	detail := audit.Chain{
		Agent: r.ev.request.Event.Source, Emitter: r.ev.request.Emitter, Reason: r.view.Text(reason), DeniedBy: out.DeniedBy, ApprovalID: approvalID,
		Root: r.ev.request.Event.Extensions[events.AttrRoot], Depth: r.ev.depth(),
		Labels: events.UnionLabels(r.ev.request.Event.Labels(), out.Labels), Called: called(out), Skipped: len(out.Skipped), Took: r.now.Sub(r.ev.admitted),
		In: r.view.Of(r.ev.session(), r.ev.sent()),
	}
	if told := told(out); r.ev.defaulted || !bytes.Equal(told, r.ev.data) {
		detail.Out = r.view.Of(r.ev.session(), told)
	}
	r.add(audit.ChainResult, "", action, detail)
}

// told is the data that the agent gets: that of the result, which may be a hook's own, or else the
// chain's.
func told(out chain.Outcome) []byte {
	if out.Result.Data != nil {
		return out.Result.Data
	}
	return out.Data
}
