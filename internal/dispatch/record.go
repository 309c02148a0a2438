package dispatch

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// record writes the records of an event and waits for the log. If the log does not store them in
// time, the agent gets an error, and a record says so.
func (d *Dispatcher) record(ctx context.Context, ev *event, r *records) error {
	if r == nil {
		return nil
	}
	from := time.Now()
	err := d.journal.Record(ctx, r.text)
	ev.observed.Audited = telemetry.Interval{From: from, To: time.Now()}
	r.free()
	if err != nil {
		d.noteRefused(ev, unavailable, "")
	}
	return err
}

// note writes records without waiting.
func (d *Dispatcher) note(r *records) {
	if r != nil {
		d.journal.Note(r.text)
		r.free()
	}
}

// unavailable is the action of a record which says that the agent got an error instead of the
// answer.
const unavailable = "unavailable"

// noteRefused records that the agent did not get the recorded answer, and why.
func (d *Dispatcher) noteRefused(ev *event, action, why string) {
	d.noteRefusal(audit.Record{ChainID: ev.chainID, Session: ev.session(), Event: ev.name(), EventID: ev.id()}, action, why)
}

// noteHeldRefused is noteRefused for an event that waited for a person.
func (d *Dispatcher) noteHeldRefused(s *held.Event, action, why string) {
	d.noteRefusal(audit.Record{ChainID: s.ChainID, Session: s.Session, Event: s.Event, EventID: s.EventID}, action, why)
}

func (d *Dispatcher) noteRefusal(about audit.Record, action, why string) {
	about.Time, about.Kind, about.Action, about.Detail = time.Now(), audit.ChainRefused, action, audit.Note{Reason: d.view.Text(why)}
	d.journal.Note(about.Append(nil))
}

// recordOf returns a record about an approval request.
func recordOf(s *held.Event, kind audit.Kind, action string, detail audit.Detail) audit.Record {
	return audit.Record{
		Time: time.Now(), Kind: kind, ChainID: s.ChainID, Session: s.Session, Event: s.Event, Hook: s.HookID, Action: action, EventID: s.EventID, Detail: detail,
	}
}

// records collects the audit records of one event. It is nil if the router keeps no audit log.
type records struct {
	view View
	ev   *event
	now  time.Time
	text []byte
	pool *[]byte // the pooled buffer behind text
}

// buffers pools the buffers of records. Larger ones, in bytes, are dropped.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const maxBuffer = 64 << 10

// records returns the records that write adds.
func (d *Dispatcher) records(ev *event, write func(*records)) *records {
	if !d.journal.Enabled() {
		return nil
	}
	buf := buffers.Get().(*[]byte)
	r := &records{view: d.view, ev: ev, now: time.Now(), text: (*buf)[:0], pool: buf}
	write(r)
	return r
}

// free returns the buffer to the pool. The journal keeps no reference to it.
func (r *records) free() {
	if cap(r.text) <= maxBuffer {
		*r.pool = r.text
		buffers.Put(r.pool)
	}
}

func (r *records) add(kind audit.Kind, hook, action string, detail audit.Detail) {
	r.text = audit.Record{
		Time: r.now, Kind: kind, ChainID: r.ev.chainID, Session: r.ev.session(), Event: r.ev.name(), Hook: hook, Action: action,
		EventID: r.ev.id(), Detail: detail,
	}.Append(r.text)
}

// emitted returns the records of a decided emit.
func (d *Dispatcher) emitted(ev *event, out chain.Outcome) *records {
	return d.records(ev, func(r *records) {
		r.calls(out)
		r.result(out, string(cmp.Or(out.Result.Action, chain.Continue)), out.Result.Reason, "")
	})
}

// executed returns the records of an execute that asks nobody.
func (d *Dispatcher) executed(ev *event, out chain.Outcome, v verdict.Verdict) *records {
	return d.records(ev, func(r *records) {
		r.calls(out)
		r.delivered(ev.withLate(out), v)
		r.result(out, string(v.Action), v.Reason, approvalID(v))
	})
}

// requested returns the records of an execute that asks a person, even if the event already has a
// request.
func (d *Dispatcher) requested(ev *event, out chain.Outcome, v verdict.Verdict, s *held.Event, again bool) *records {
	return d.records(ev, func(r *records) {
		r.calls(out)
		r.delivered(out, v)
		r.approval(s, again)
		r.result(out, string(verdict.Pending), "", s.ID)
	})
}

// undecided returns the records of a chain that ran out of time.
func (d *Dispatcher) undecided(ev *event, out chain.Outcome) *records {
	return d.records(ev, func(r *records) {
		r.calls(out)
		r.result(out, "deadline", "", "")
	})
}

// collected returns the records of a collect.
func (d *Dispatcher) collected(ev *event, list []chain.Collected) *records {
	return d.records(ev, func(r *records) {
		called, skipped := 0, 0
		for i := range list {
			c := &list[i]
			if c.Skipped {
				skipped++
				r.add(audit.HookSkipped, c.Entry.ID, "skipped", nil)
				continue
			}
			call := chain.Call{Entry: c.Entry, Start: c.Start, Took: c.Took, Err: c.Err, Failure: chain.FailureOf(c.Err)}
			if c.Start.IsZero() {
				call.Failure = chain.FailedMatch
			}
			if call.Called() {
				called++
			}
			detail := r.call(&call)
			detail.Data = r.view.Of(ev.session(), c.Data)
			r.add(kindOf(call.Failure), c.Entry.ID, "collect", detail)
		}
		r.add(audit.ChainResult, "", "collect", audit.Chain{
			Agent: ev.request.Event.Source, Emitter: ev.request.Emitter, Called: called, Skipped: skipped, Took: r.now.Sub(ev.admitted), In: r.view.Of(ev.session(), ev.sent()),
		})
	})
}

// shadowed is the record of a shadow hook's answer to data.
func (d *Dispatcher) shadowed(ev *event, call *chain.Call, data []byte) *records {
	return d.records(ev, func(r *records) {
		detail := r.call(call)
		detail.Shadow = true
		r.changed(&detail, call, data)
		r.add(kindOf(call.Failure), call.Entry.ID, answered(call), detail)
	})
}
