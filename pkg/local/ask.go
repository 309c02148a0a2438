package local

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// ask turns a pending verdict into a final one. It returns only errors of ctx.
func (s *Session) ask(ctx context.Context, st *state, out chain.Outcome, ev events.Event, v verdict.Verdict) (verdict.Verdict, error) {
	call := asking(out)
	record := recordOf(call, ev, v.Data, time.Now())
	q := record.Request
	always := key(call, ev, v.Data)
	granted := s.granted(st, always)
	switch {
	case s.options.Ask == nil:
		return denied(v, "No approval system available"), nil
	case call.Entry.Approval != nil:
		return denied(v, "Nobody can approve this: approval groups need a router"), nil
	case granted != "":
		v.Action, v.Approval = verdict.Continue, approvalOf(q, approval.Decision{Option: "Allow always"})
		v.Approval.ID, v.Approval.Cached = granted, true
		return v, nil
	}
	d := approval.Decision{}
	if err := approval.Check(q.Prompt, q.Options); err != nil {
		d.Error = err.Error()
	} else if d, err = s.decide(ctx, record, call); err != nil {
		return verdict.Verdict{}, err
	}
	if !d.Granted {
		v = denied(v, approval.Reason(q, d))
		v.Approval = approvalOf(q, d)
		return v, nil
	}
	if approval.Remembered(d.Option) {
		s.mu.Lock()
		st.always[always] = q.ID // no effect if the session has ended
		s.mu.Unlock()
	}
	v.Action, v.Approval = verdict.Continue, approvalOf(q, d)
	return v, nil
}

// decide asks a person within the hook's time to answer.
func (s *Session) decide(ctx context.Context, record approval.Record, call chain.Call) (approval.Decision, error) {
	asked, cancel := context.WithTimeout(ctx, approval.Timeout(call.Result.ApprovalTimeout))
	defer cancel()
	option, err := s.options.Ask(asked, record)
	switch {
	case ctx.Err() != nil:
		return approval.Decision{}, fmt.Errorf("ask about %s: %w", record.Event, context.Cause(ctx))
	case asked.Err() != nil:
		return approval.TimedOut(record.Request, time.Now()), nil
	}
	answer := approval.Answer{Option: option}
	if err != nil {
		answer = approval.Answer{Error: err.Error()}
	}
	d, err := approval.Decide(record.Request, answer, "", record.Created.Time)
	if err != nil { // not an offered option: permits nothing
		return approval.Decision{Error: err.Error()}, nil
	}
	return d, nil
}

// granted returns the approval request that allowed this always; empty if there is none.
func (s *Session) granted(st *state, always string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return st.always[always]
}

// asking returns the call of the first hook that asks.
func asking(out chain.Outcome) chain.Call {
	for _, call := range out.Calls {
		if call.Result.Action == chain.AskUser {
			return call
		}
	}
	return chain.Call{}
}

func recordOf(call chain.Call, ev events.Event, data []byte, now time.Time) approval.Record {
	r := call.Result
	options := r.ApprovalOptions
	if len(options) == 0 {
		options = approval.DefaultOptions()
	}
	expires := now.Add(approval.Timeout(r.ApprovalTimeout))
	return approval.Record{
		Request: approval.Request{
			ID: approval.IDOf("", ev.Session, ev.Name, ev.ID), Session: ev.Session, Event: ev.Name, Hook: call.Entry.Title(),
			Prompt: cmp.Or(r.ApprovalPrompt, approval.DefaultPrompt), Options: options, Default: string(cmp.Or(r.ApprovalDefault, chain.Deny)),
			Created: approval.At(now), Expires: approval.At(expires), DataSHA256: approval.Digest(data),
		},
		EventID: ev.ID, HookID: call.Entry.ID, Reason: r.Reason, Data: bytes.Clone(data),
	}
}

// key returns what an "Allow always" covers: the hook, the prompt and, if the data has a tool, the
// tool with the content of the call or the hook's key for it.
func key(call chain.Call, ev events.Event, data []byte) string {
	parts := []string{call.Entry.ID, cmp.Or(call.Result.ApprovalPrompt, approval.DefaultPrompt)}
	obj, _ := events.ParseObject(data) // was read before
	content, hasTool := obj.ToolContent(ev.Name)
	switch own := call.Result.ApprovalKey; {
	case own != "":
		tool, _ := obj.Tool(ev.Name)
		parts = append(parts, "key", tool.Name, own)
	case hasTool:
		parts = append(parts, "input", string(content))
	}
	text, _ := json.Marshal(parts) // strings
	return approval.Digest(text)
}

func denied(v verdict.Verdict, reason string) verdict.Verdict {
	v.Action, v.Data, v.Reason = verdict.Deny, nil, reason
	return v
}

func approvalOf(q approval.Request, d approval.Decision) *verdict.Approval {
	return &verdict.Approval{
		ID: q.ID, Hook: q.Hook, Prompt: q.Prompt, Options: q.Options, Option: d.Option, DecidedBy: d.DecidedBy,
		TimedOut: d.TimedOut, Expires: events.Stamp(q.Expires.Time), DataSHA256: q.DataSHA256,
	}
}
