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

// record writes the records of an event and waits for the log. Where the log does not
// take them in time, the agent gets an error, and a record says so.
func (d *Dispatcher) record(ctx context.Context, ev *event, r *records) error {
	if r == nil {
		return nil
	}
	from := time.Now()
	err := d.journal.Record(ctx, r.text)
	ev.observed.Audited = telemetry.Interval{From: from, To: time.Now()}
	r.free()
	if err != nil {
		d.noteRefused(ev)
	}
	return err
}

// note writes records that nobody waits for.
func (d *Dispatcher) note(r *records) {
	if r != nil {
		d.journal.Note(r.text)
		r.free()
	}
}

// noteRefused records that the agent did not get what the records say.
func (d *Dispatcher) noteRefused(ev *event) {
	if d.journal.Enabled() {
		d.journal.Note(audit.Record{
			Time: time.Now(), Kind: audit.ChainRefused, ChainID: ev.chainID, Session: ev.session(), Event: ev.name(), Action: "unavailable", EventID: ev.id(),
		}.Append(nil))
	}
}

// records are the audit records of one event while they are made. A nil one is that of
// a router that keeps none.
type records struct {
	view View
	ev   *event
	now  time.Time
	text []byte
	pool *[]byte // where text came from
}

// buffers are those that records were made in; larger ones, in bytes, are dropped.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const maxBuffer = 64 << 10

func (d *Dispatcher) records(ev *event) *records {
	if !d.journal.Enabled() {
		return nil
	}
	buf := buffers.Get().(*[]byte)
	return &records{view: d.view, ev: ev, now: time.Now(), text: (*buf)[:0], pool: buf}
}

// free gives the buffer back: the journal keeps no reference to it.
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

// emitted are the records of an emit that was decided.
func (d *Dispatcher) emitted(ev *event, out chain.Outcome) *records {
	r := d.records(ev)
	if r != nil {
		r.calls(out)
		r.result(out, string(cmp.Or(out.Result.Action, chain.Continue)), out.Result.Reason, "")
	}
	return r
}

// executed are the records of an execute that nobody is asked about.
func (d *Dispatcher) executed(ev *event, out chain.Outcome, v verdict.Verdict) *records {
	r := d.records(ev)
	if r != nil {
		r.calls(out)
		r.delivered(ev.withLate(out), v)
		r.result(out, string(v.Action), v.Reason, approvalID(v))
	}
	return r
}

// requested are the records of an execute that a person is asked about: again, where
// the event has its request already.
func (d *Dispatcher) requested(ev *event, out chain.Outcome, v verdict.Verdict, s *held.Event, again bool) *records {
	r := d.records(ev)
	if r != nil {
		r.calls(out)
		r.delivered(out, v)
		r.approval(s, again)
		r.result(out, string(verdict.Pending), "", s.ID)
	}
	return r
}

// undecided are the records of a chain that ran out of time.
func (d *Dispatcher) undecided(ev *event, out chain.Outcome) *records {
	r := d.records(ev)
	if r != nil {
		r.calls(out)
		r.result(out, "deadline", "", "")
	}
	return r
}

// collected are the records of what hooks gave to a collect.
func (d *Dispatcher) collected(ev *event, list []chain.Collected) *records {
	r := d.records(ev)
	if r == nil {
		return nil
	}
	for i := range list {
		c := &list[i]
		call := chain.Call{Entry: c.Entry, Start: c.Start, Took: c.Took, Err: c.Err, Failure: chain.FailureOf(c.Err)}
		detail := r.call(&call)
		detail.Data = r.view.Of(ev.session(), c.Data)
		r.add(kindOf(call.Failure), c.Entry.ID, "collect", detail)
	}
	r.add(audit.ChainResult, "", "collect", audit.Chain{
		Agent: ev.request.Event.Source, Emitter: ev.request.Emitter, Called: len(list), Took: r.now.Sub(ev.admitted), In: r.view.Of(ev.session(), ev.sent()),
	})
	return r
}

// shadowed is the record of what a shadow hook answered to data.
func (d *Dispatcher) shadowed(ev *event, call *chain.Call, data []byte) *records {
	r := d.records(ev)
	if r == nil {
		return nil
	}
	detail := r.call(call)
	detail.Shadow = true
	r.modified(&detail, call, data)
	r.add(kindOf(call.Failure), call.Entry.ID, answered(call), detail)
	return r
}
