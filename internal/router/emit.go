package router

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// emit is an event's way through the router, from the request to the answer.
func (r *Router) emit(ctx context.Context, req *natsx.Request) (err error) {
	a, err := r.admit("emit", req, r.ChainTimeout)
	if err != nil {
		return err
	}
	defer func() { r.tell("emit", a, err) }()
	defer r.release(a)
	if err := r.begin(ctx, a); err != nil {
		return err
	}
	out, err := r.decide(ctx, a) // publishes the event with the first call
	if err != nil {
		return err
	}
	if err := r.end(ctx, a); err != nil {
		return err
	}
	record := r.resultBody(a, out, nil) // made before the answer, so that both leave in one write
	header, body := r.replyHeader(a, out), out.Result.Append(make([]byte, 0, len(out.Result.Data)+128))
	if err := r.emitted(a, out).keep(ctx); err != nil {
		return err
	}
	r.release(a) // the agent may go on as soon as it has its answer
	err = req.Reply(header, body)
	a.answered = time.Now()
	r.tellResult(a, out, record)
	return err
}

// tellResult tells watchers and observing hooks how a chain went.
func (r *Router) tellResult(a *arrival, out chain.Outcome, record []byte) {
	r.publish(a, r.bus.Event("result", a.Name), nil, record)
	r.tellObservers(a, out)
}

// decide runs the chain within its time.
func (r *Router) decide(ctx context.Context, a *arrival) (chain.Outcome, error) {
	call := caller{r, a, ctx, r.callBase(a)}
	out, err := chain.Run(ctx, a.links, a.Event, chain.Plan{Call: call.hook, Until: time.Now().Add(a.timeout), Shadow: call.shadow})
	r.publishEvent(a) // where no hook was called
	a.out = out
	r.counts.hops(out.Calls)
	if errors.Is(err, chain.ErrDeadline) {
		r.undecided(a, out).note()
		return out, wire.Errorf(wire.Deadline, "the %s for this chain were over before every hook was heard (%s of %d answered): "+
			"nothing was decided", a.timeout, strconv.Itoa(len(out.Calls)), len(a.links))
	}
	return out, err
}

// callBase are the headers that the calls of a chain share: the event's own where
// nobody else will want them, else a copy.
func (r *Router) callBase(a *arrival) wire.Header {
	for _, link := range a.links {
		if !link.Enforced() {
			h := make(wire.Header, len(a.header)+3)
			maps.Copy(h, a.header)
			return h
		}
	}
	return a.header
}

func (r *Router) replyHeader(a *arrival, out chain.Outcome) wire.Header {
	var open []string
	for _, hop := range out.Calls {
		if hop.FailedOpen {
			open = append(open, hop.Entry.ID)
		}
	}
	h := wire.Header{
		wire.HeaderEventID: {events.Escape(a.ID)},
		wire.HeaderChainID: {a.chainID},
		wire.HeaderCount:   {strconv.Itoa(called(out))},
		wire.HeaderAudit:   r.auditMode,
	}
	if out.DeniedBy != "" {
		h[wire.HeaderDeniedBy] = []string{out.DeniedBy}
	}
	if len(open) > 0 {
		h[wire.HeaderFailedOpen] = []string{strings.Join(open, ",")}
	}
	return h
}

// called is how many hooks got the event.
func called(out chain.Outcome) (n int) {
	for _, hop := range out.Calls {
		if hop.Called() {
			n++
		}
	}
	return n
}
