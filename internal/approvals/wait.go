package approvals

import (
	"context"
	"slices"
	"time"

	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// maxWaiters is how many requests may wait for one question.
const maxWaiters = 64

// waiter is one request that waits for a decision.
type waiter struct {
	tell func(*Stored, *approval.Decision)
	s    *Stored // without data
}

// Await calls tell once: with the decision as soon as it stands in the stream, or
// with nil when until comes or the desk closes first. It does not block, and tell
// must not. The question's data is read again for the decision.
func (d *Service) Await(s *Stored, until time.Time, tell func(*Stored, *approval.Decision)) {
	d.mu.Lock()
	e := d.questions[s.ID]
	if e == nil || d.closing || !until.After(time.Now()) && e.decision == nil {
		d.mu.Unlock()
		tell(s, nil)
		return
	}
	var first *waiter
	if len(e.waiters) >= maxWaiters { // whoever waits longest may be gone
		first = e.waiters[0]
		e.waiters = append([]*waiter(nil), e.waiters[1:]...)
	}
	light := *s
	light.Data, light.Changes = nil, nil
	if e.pending() {
		light.Request = e.question // texts that are there already
	}
	w := &waiter{tell, &light}
	e.waiters = append(e.waiters, w)
	d.clock.at(until, func() { d.giveUp(e, w) })
	if e.decision != nil {
		d.jobs.put(job{do: d.tell, id: s.ID})
	}
	d.mu.Unlock()
	if first != nil {
		first.tell(first.s, nil)
	}
}

// giveUp tells one who waited that nothing is decided yet.
func (d *Service) giveUp(e *entry, w *waiter) {
	d.mu.Lock()
	i := slices.Index(e.waiters, w)
	if i >= 0 {
		e.waiters = slices.Delete(e.waiters, i, i+1)
	}
	d.mu.Unlock()
	if i >= 0 {
		w.tell(w.s, nil)
	}
}

// tell answers those who wait for a question that is decided.
func (d *Service) tell(ctx context.Context, id string, try int) (done bool) {
	d.mu.Lock()
	e := d.questions[id]
	if e == nil || e.decision == nil || len(e.waiters) == 0 {
		d.mu.Unlock()
		return true
	}
	decision, stored := e.decision, e.waiters[0].s
	d.mu.Unlock()

	if decision.Granted {
		var err error
		if stored, err = d.load(ctx, id); err != nil {
			d.Log.Warn("could not read what was decided about, trying again", "approval", id, "error", err)
			return wire.CodeOf(err) == wire.NotFound
		}
		if err := d.remember(ctx, stored, *decision); err != nil { // before the agent goes on and asks again
			d.Log.Warn("could not remember an approval for its session", "approval", id, "error", err)
			if try < 2 {
				return false
			}
		}
	}
	d.mu.Lock()
	waiters := e.waiters
	e.waiters = nil
	d.mu.Unlock()
	for _, w := range waiters {
		w.tell(stored, decision)
	}
	return true
}

// close tells everyone who waits here that nothing is decided yet: another
// replica, or the next process, knows the question too.
func (d *Service) close() {
	d.mu.Lock()
	d.closing = true
	var all []*waiter
	for _, e := range d.questions {
		all = append(all, e.waiters...)
		e.waiters = nil
	}
	watchers := d.watchers
	d.watchers = map[*watcher]struct{}{}
	d.mu.Unlock()
	for _, w := range all {
		w.tell(w.s, nil)
	}
	for w := range watchers {
		close(w.ch)
	}
}

// watcher is one who is told of what is asked and decided.
type watcher struct {
	ch   chan approval.Notice
	lost bool
}

// watchAhead is how many notices may wait for a slow reader.
const watchAhead = 256

// Watch tells of what is asked and decided from now on.
func (d *Service) Watch() (notices <-chan approval.Notice, stop func()) {
	w := &watcher{ch: make(chan approval.Notice, watchAhead)}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closing {
		close(w.ch)
		return w.ch, func() {}
	}
	d.watchers[w] = struct{}{}
	return w.ch, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if _, there := d.watchers[w]; there {
			delete(d.watchers, w)
			close(w.ch)
		}
	}
}

// notify never waits. The caller holds mu.
func (d *Service) notify(n approval.Notice) {
	if len(d.watchers) == 0 {
		return
	}
	n.Request = d.Masked(n.Request)
	for w := range d.watchers {
		n.Lost = w.lost
		select {
		case w.ch <- n:
			w.lost = false
		default:
			w.lost = true
		}
	}
}
