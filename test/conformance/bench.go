package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// bench is what surrounds the router in one case: the scripted hooks and
// contributors and the approval system. Its methods are for one goroutine; the
// deliveries are handled by others, which close waits for.
type bench struct {
	target   Target
	tag      string // makes the case's ids unique on the bus
	journal  *journal
	approver *approver // nil where no approval system is listening

	// Every subscription delivers here, in the order the connection reads.
	queue  chan *nats.Msg
	marks  chan struct{} // one for each mark that came out of queue
	stop   context.CancelFunc
	ended  chan struct{}  // closed when dispatch has returned
	active sync.WaitGroup // the answers under way; only dispatch adds

	quiet atomic.Bool // hooks answer null and count nothing

	mu    sync.Mutex       // guards hooks
	hooks map[string]*hook // what is registered, by call subject
	order []*hook          // the same, in order of registration
	asks  *nats.Subscription
}

// queueSize is far beyond what a case has in flight; a full queue would lose calls.
const queueSize = 4096

// newBench starts the handling of deliveries, until ctx ends or close is called.
func newBench(ctx context.Context, target Target, tag string) *bench {
	ctx, stop := context.WithCancel(ctx)
	b := &bench{
		target:  target,
		tag:     tag,
		journal: &journal{},
		queue:   make(chan *nats.Msg, queueSize),
		marks:   make(chan struct{}, 1),
		stop:    stop,
		ended:   make(chan struct{}),
		hooks:   map[string]*hook{},
	}
	go b.dispatch(ctx)
	return b
}

// listen puts an approval system on the bus.
func (b *bench) listen(a *approver) error {
	sub, err := b.target.Conn.ChanSubscribe(b.target.subject("event", eventApprovalRequired), b.queue)
	if err != nil {
		return fmt.Errorf("listen for approvals: %w", err)
	}
	b.approver, b.asks = a, sub
	return nil
}

// dispatch logs each delivery before anything is done about it, so that the log
// has the order of the wire. A message without a subscription is a mark.
func (b *bench) dispatch(ctx context.Context) {
	defer close(b.ended)
	for {
		select {
		case <-ctx.Done():
			return
		case msg := <-b.queue:
			switch {
			case msg.Sub == nil:
				b.marks <- struct{}{}
			case msg.Sub == b.asks:
				b.ask(ctx, msg)
			default:
				b.call(ctx, msg)
			}
		}
	}
}

// call logs a call and has it answered. Calls for the router's own events arrive
// as observe and are none of the case's.
func (b *bench) call(ctx context.Context, msg *nats.Msg) {
	b.mu.Lock()
	h := b.hooks[msg.Subject]
	b.mu.Unlock()
	if h == nil || msg.Header.Get(headerMode) == "observe" {
		return
	}
	if b.quiet.Load() {
		if !h.bridged {
			b.send(msg, answer{})
		}
		return
	}
	data, err := decode(msg.Data)
	if err != nil {
		b.journal.problem(fmt.Errorf("call of %s: %w", h.id, err))
	}
	b.journal.called(call{id: h.id, event: attribute(msg.Header, "type"), data: data})
	if h.bridged {
		return
	}
	behavior := h.behavior.at(h.served)
	h.served++
	b.active.Go(func() {
		if wait(ctx, time.Duration(behavior.SleepMS)*time.Millisecond) != nil {
			return
		}
		reply, err := behavior.answer(msg.Data)
		if err != nil {
			b.journal.problem(fmt.Errorf("call of %s: %w", h.id, err))
			return
		}
		b.send(msg, reply)
	})
}

// send answers a call. The router may have stopped waiting; that is its business.
func (b *bench) send(call *nats.Msg, reply answer) {
	msg := &nats.Msg{Subject: call.Reply, Data: reply.body}
	if reply.fails {
		msg.Header = nats.Header{headerErrorCode: {"500"}, headerError: {reply.cause}}
	}
	if err := b.target.Conn.PublishMsg(msg); err != nil {
		b.journal.problem(fmt.Errorf("answer call on %s: %w", call.Subject, err))
	}
}

// ask has an approval request answered by the approval system.
func (b *bench) ask(ctx context.Context, msg *nats.Msg) {
	question, err := b.approver.take(msg.Data)
	if err != nil {
		b.journal.problem(err)
		return
	}
	if question == nil {
		return
	}
	b.journal.asked(question.shown)
	b.active.Go(func() {
		if err := b.approver.answer(ctx, question); err != nil {
			b.journal.problem(err)
		}
	})
}

// settle waits until everything that was delivered so far is in the journal, and
// returns the record of the step.
func (b *bench) settle(ctx context.Context) (record, error) {
	b.queue <- &nats.Msg{}
	select {
	case <-b.marks:
		return b.journal.turn(), nil
	case <-b.ended:
		return record{}, errors.New("settle: deliveries are no longer handled")
	case <-ctx.Done():
		return record{}, fmt.Errorf("settle: %w", context.Cause(ctx))
	}
}

// hush makes hooks answer null and count nothing, until it is called with false.
func (b *bench) hush(ctx context.Context, on bool) error {
	b.quiet.Store(on)
	if b.target.Hooks == nil {
		return nil
	}
	return b.target.Hooks.do(ctx, "quiet", b.target.Prefix, map[string]any{"on": on})
}

// close unregisters everything, waits until the late replies have been sent and
// stops the handling of deliveries. It returns also what went wrong since the
// last settle.
func (b *bench) close(ctx context.Context) error {
	var errs []error
	for len(b.order) > 0 {
		errs = append(errs, b.unregister(ctx, b.order[len(b.order)-1].id))
	}
	if b.asks != nil {
		errs = append(errs, b.asks.Unsubscribe())
	}
	last, err := b.settle(ctx) // from here on dispatch starts no answer
	errs = append(append(errs, last.problems...), err)
	if err != nil {
		b.stop()
		<-b.ended
	}
	b.active.Wait()
	b.stop()
	<-b.ended
	errs = append(errs, b.journal.turn().problems...)
	return errors.Join(errs...)
}

// wait is a sleep that ends with ctx.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
