package router

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/approvals"
	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// lines are the records of one chain, while they are made. Those of a router that keeps
// none have no text.
type lines struct {
	*Router
	a    *arrival
	text []byte
	now  time.Time
	from *[]byte // where text was made
}

// spare are buffers that lines were made in.
var spare = sync.Pool{New: func() any { return new([]byte) }}

// maxSpare is the largest buffer that is kept, in bytes.
const maxSpare = 64 << 10

// lines begins the records of a chain. End them with keep or note.
func (r *Router) lines(a *arrival) *lines {
	if r.Audit == recorder.Off {
		return &lines{}
	}
	from := spare.Get().(*[]byte)
	return &lines{r, a, (*from)[:0], time.Now(), from}
}

// keep has the records written and waits for the log. Where that can't be had in time
// they are followed by one that says that the agent was told nothing.
func (l *lines) keep(ctx context.Context) error {
	if l.Router == nil {
		return nil
	}
	from := time.Now()
	err := l.audit.Record(ctx, l.text)
	l.a.audited = telemetry.Interval{From: from, To: time.Now()}
	l.end()
	if err != nil {
		l.refused()
	}
	return err
}

// refused notes that the agent was told nothing of what the records say.
func (l *lines) refused() {
	if l.Router != nil {
		l.audit.Note(audit.Record{
			Time: time.Now(), Kind: audit.ChainRefused, ChainID: l.a.chainID, Session: l.a.Session, Event: l.a.Name, Action: "unavailable", EventID: l.a.ID,
		}.Append(nil))
	}
}

// note has the records written; nobody waits for them.
func (l *lines) note() {
	if l.Router != nil {
		l.audit.Note(l.text)
		l.end()
	}
}

// end gives the buffer back.
func (l *lines) end() {
	if cap(l.text) <= maxSpare {
		*l.from = l.text
		spare.Put(l.from)
	}
}

func (l *lines) add(kind audit.Kind, hook, action string, detail audit.Detail) {
	l.text = audit.Record{
		Time: l.now, Kind: kind, ChainID: l.a.chainID, Session: l.a.Session, Event: l.a.Name, Hook: hook, Action: action,
		EventID: l.a.ID, Detail: detail,
	}.Append(l.text)
}

// hops are what happened at each hook, and those whose match said no.
func (l *lines) hops(out chain.Outcome) {
	if l.Router == nil {
		return
	}
	data := l.a.Data
	for i := range out.Calls {
		hop := &out.Calls[i]
		detail := l.hop(hop)
		if hop.Result.Action == chain.Modify && hop.Result.Data != nil {
			detail.Data = l.audit.View().Of(l.a.Session, hop.Result.Data)
			detail.Changes = l.changes(data, hop.Result.Data)
			data = hop.Result.Data
		}
		action := string(hop.Result.Action)
		if action == "" && hop.Failure == "" {
			action = string(chain.Continue)
		}
		l.add(kindOf(hop.Failure), hop.Entry.ID, action, detail)
	}
	for _, link := range out.Skipped {
		l.add(audit.HookSkipped, link.ID, "skipped", nil)
	}
}

func (l *lines) hop(hop *chain.Call) audit.Call {
	detail := audit.Call{
		Reason: l.audit.View().Text(hop.Result.Reason), Failure: string(hop.Failure), FailedOpen: hop.FailedOpen, Took: hop.Took,
		Injection: l.audit.View().TextOf(l.a.Session, hop.Result.ContextInjection), Message: l.audit.View().Text(hop.Result.UserMessage),
	}
	if hop.Err != nil {
		detail.Error = l.audit.View().Text(hop.Err.Error())
	}
	return detail
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

// changes is what a hook changed, as a patch.
func (l *lines) changes(before, after []byte) json.RawMessage {
	if l.audit.View().Data == recorder.Digest {
		return nil
	}
	patch, err := approval.Changes(before, after)
	if err != nil {
		return nil
	}
	return l.audit.View().Changes(patch)
}

// told is what the coordinator put into the agent's context, or did not, and what it
// shows to the user.
func (l *lines) told(out chain.Outcome, v verdict.Verdict) {
	if l.Router == nil {
		return
	}
	for i := range out.Calls {
		if hop := &out.Calls[i]; hop.Result.Action == chain.InjectContext && hop.Result.ContextInjection != "" {
			l.injection(hop, v)
		}
	}
	for i := range out.Calls {
		hop := &out.Calls[i]
		if hop.Result.UserMessage == "" && !hop.Result.SuppressOutput {
			continue
		}
		action := "shown"
		detail := audit.Display{Message: l.audit.View().Text(hop.Result.UserMessage), Suppressed: hop.Result.SuppressOutput}
		if detail.Message == "" {
			action = "suppressed"
		} else {
			detail.Level = string(cmp.Or(hop.Result.UserMessageLevel, chain.LevelInfo))
		}
		l.add(audit.DisplayKind, hop.Entry.ID, action, detail)
	}
}

// injection is what became of a hook's text: it was delivered, or dropped for its size or
// the budget, or because the event was denied or a person is asked.
func (l *lines) injection(hop *chain.Call, v verdict.Verdict) {
	text, cleaned := verdict.Clean(hop.Result.ContextInjection)
	one := verdict.Injected{Bytes: len(text), Cleaned: cleaned, Dropped: "empty"}
	switch v.Action {
	case verdict.Deny:
		one.Dropped = "denied"
	case verdict.Pending:
		one.Dropped = "asked"
	}
	for _, known := range slices.Concat(v.Injected, v.Dropped) {
		if known.HookID == hop.Entry.ID {
			one = known
		}
	}
	action := "delivered"
	if one.Dropped != "" {
		action = "dropped"
	}
	l.add(audit.InjectionKind, hop.Entry.ID, action, audit.Injection{
		Role: string(cmp.Or(hop.Result.ContextInjectionRole, chain.RoleSystem)), Ephemeral: hop.Result.Ephemeral,
		Bytes: one.Bytes, Tokens: one.Tokens, Cleaned: one.Cleaned, Dropped: one.Dropped, Text: l.audit.View().TextOf(l.a.Session, text),
	})
}

// asked is that a person is asked; it was asked before where the event was sent
// again.
func (l *lines) asked(s *approvals.Stored, first bool) {
	if l.Router == nil {
		return
	}
	action := "requested"
	if !first {
		action = "joined"
	}
	l.add(audit.ApprovalRequested, s.HookID, action, audit.ApprovalRequest{
		ApprovalID: s.ID, Prompt: l.audit.View().Text(s.Prompt), Options: s.Options, Default: s.Default, Expires: s.Expires.Time, DataSHA256: s.DataSHA256,
	})
}

// result is how the chain ended, and what the agent is told.
func (l *lines) result(out chain.Outcome, action, reason, approvalID string) {
	if l.Router == nil {
		return
	}
	detail := audit.Chain{
		Agent: l.a.Source, Emitter: l.a.emitter, Reason: l.audit.View().Text(reason), DeniedBy: out.DeniedBy, ApprovalID: approvalID,
		Called: called(out), Skipped: len(out.Skipped), Took: l.now.Sub(l.a.came),
		In: l.audit.View().Of(l.a.Session, l.a.sent),
	}
	if modified(out) {
		detail.Out = l.audit.View().Of(l.a.Session, out.Data)
	}
	l.add(audit.ChainResult, "", action, detail)
}

// modified reports whether a hook changed the data.
func modified(out chain.Outcome) bool {
	for i := range out.Calls {
		if out.Calls[i].Result.Action == chain.Modify && out.Calls[i].Result.Data != nil {
			return true
		}
	}
	return false
}

// emitted are the records of an emit that was decided.
func (r *Router) emitted(a *arrival, out chain.Outcome) *lines {
	l := r.lines(a)
	l.hops(out)
	l.result(out, string(cmp.Or(out.Result.Action, chain.Continue)), out.Result.Reason, "")
	return l
}

// executed are the records of an execute that nobody is asked about.
func (r *Router) executed(a *arrival, out chain.Outcome, v verdict.Verdict) *lines {
	l := r.lines(a)
	l.hops(out)
	l.told(out, v)
	id := ""
	if v.Approval != nil {
		id = v.Approval.ID
	}
	l.result(out, string(v.Action), v.Reason, id)
	return l
}

// questioned are the records of an execute that a person is asked about.
func (r *Router) questioned(a *arrival, out chain.Outcome, v verdict.Verdict, s *approvals.Stored, first bool) *lines {
	l := r.lines(a)
	l.hops(out)
	l.told(out, v)
	l.asked(s, first)
	l.result(out, string(verdict.Pending), "", s.ID)
	return l
}

// undecided are the records of a chain whose time was over: its agent was told so.
func (r *Router) undecided(a *arrival, out chain.Outcome) *lines {
	l := r.lines(a)
	l.hops(out)
	l.result(out, "deadline", "", "")
	return l
}

// collected notes what hooks gave to a collect.
func (r *Router) collected(a *arrival, list []chain.Collected) {
	if r.Audit == recorder.Off {
		return
	}
	l := r.lines(a)
	for _, c := range list {
		detail := audit.Call{Data: l.audit.View().Of(a.Session, c.Data)}
		kind := audit.HookResult
		if c.Err != nil {
			kind = kindOf(chain.FailureOf(c.Err))
			detail.Failure, detail.Error = string(chain.FailureOf(c.Err)), l.audit.View().Text(c.Err.Error())
		}
		l.add(kind, c.Entry.ID, "collect", detail)
	}
	l.add(audit.ChainResult, "", "collect", audit.Chain{
		Agent: a.Source, Emitter: a.emitter, Called: len(list), Took: l.now.Sub(a.came), In: l.audit.View().Of(a.Session, a.sent),
	})
	l.note()
}

// shadowed notes what a shadow hook answered.
func (r *Router) shadowed(a *arrival, link *chain.Entry, ev events.Event, result chain.Result, took time.Duration, err error) {
	if r.Audit == recorder.Off {
		return
	}
	hop := chain.Call{Entry: link, Result: result, Err: err, Took: took}
	if err != nil {
		hop.Failure = chain.FailureOf(err)
	}
	l := r.lines(a)
	detail := l.hop(&hop)
	detail.Shadow = true
	if result.Action == chain.Modify && result.Data != nil {
		detail.Data, detail.Changes = l.audit.View().Of(a.Session, result.Data), l.changes(ev.Data, result.Data)
	}
	action := string(result.Action)
	if err == nil {
		action = cmp.Or(action, string(chain.Continue))
	}
	l.add(kindOf(hop.Failure), link.ID, action, detail)
	l.note()
}
