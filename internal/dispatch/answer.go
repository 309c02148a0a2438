package dispatch

import (
	"time"

	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Answer is the answer to an agent. Its owner sends it and then calls [Answer.Sent], or
// [Answer.Await] if [Answer.Pending] reports that a person decides.
type Answer struct {
	EventID, ChainID string
	Called           int      // how many hooks got the event
	DeniedBy         string   // id of the hook that denied; empty if none did
	FailedOpen       []string // ids of hooks that failed open
	From, Missing    []string // of a collect: the hooks that gave the values of Body, and those that gave none
	Body             []byte   // JSON

	pending func(reply func(body []byte)) // nil if Body is the answer
	sent    func(error)                   // nil if nothing follows
}

// Pending reports whether a person must decide first. Body is empty then.
func (a *Answer) Pending() bool { return a.pending != nil }

// Await calls reply once with the body to send: the verdict when the person decides, or a
// pending one when the request has waited long enough. It does not block. Call [Answer.Sent]
// right after it.
func (a *Answer) Await(reply func(body []byte)) { a.pending(reply) }

// Sent finishes the event after its answer was sent: it publishes the result, notifies observing
// hooks and counts the event. err says why the answer could not be sent; nil if it was.
func (a *Answer) Sent(err error) {
	if a.sent != nil {
		a.sent(err)
	}
}

// answer returns the agent's answer for a chain that ended.
func (ev *event) answer(out chain.Outcome, body []byte) *Answer {
	a := &Answer{EventID: ev.id(), ChainID: ev.chainID, Called: called(out), DeniedBy: out.DeniedBy, Body: body}
	for i := range out.Calls {
		if out.Calls[i].FailedOpen {
			a.FailedOpen = append(a.FailedOpen, out.Calls[i].Entry.ID)
		}
	}
	return a
}

// called counts the hooks that got the event.
func called(out chain.Outcome) (n int) {
	for i := range out.Calls {
		if out.Calls[i].Called() {
			n++
		}
	}
	return n
}

// finish returns what to do once the answer is sent. It encodes the result now, so that answer
// and result leave in one write.
func (d *Dispatcher) finish(ev *event, out chain.Outcome, approvalID string) func(error) {
	result := d.result(ev, out, approvalID)
	return func(err error) {
		ev.observed.End = time.Now()
		d.published(ev, "result", ev.channel.PublishResult(result))
		d.notifyObservers(ev, out.Data)
		d.observe(ev, err)
	}
}
