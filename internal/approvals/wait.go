package approvals

import (
	"context"
	"slices"
	"time"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// maxWaiters is how many requests may wait for one decision.
const maxWaiters = 64

// answerTimeout is the minimum wait for a decision that was already made: the request has to be
// read, and its labels and grant stored, first.
const answerTimeout = 5 * time.Second

// waiter is one request that waits for a decision.
type waiter struct {
	notify func(*held.Event, *approval.Decision)
	stored *held.Event // without data; all waiters of a request share it
}

// finish notifies a waiter that was removed from its entry. The clock references the waiter until
// its time, so it must keep nothing of the request.
func (w *waiter) finish(r *held.Event, decision *approval.Decision) {
	notify := w.notify
	w.notify, w.stored = nil, nil
	notify(r, decision)
}

// Await calls notify once: with the decision once it is in the stream, or with nil if until passes
// or the service stops first. An existing decision counts even if until has passed. Await does not
// block, and notify must not block. For a decision that grants, the data of the request is read
// again.
func (s *Service) Await(r *held.Event, until time.Time, notify func(*held.Event, *approval.Decision)) {
	s.mu.Lock()
	e := s.entries[r.ID]
	if e == nil || s.closing || !until.After(time.Now()) && e.decision == nil {
		s.mu.Unlock()
		notify(r, nil)
		return
	}
	stored := e.light(r)
	var oldest *waiter
	if len(e.waiters) >= maxWaiters { // the oldest may be gone
		oldest = e.waiters[0]
		e.waiters = append([]*waiter(nil), e.waiters[1:]...)
	}
	w := &waiter{notify, stored}
	e.waiters = append(e.waiters, w)
	if e.decision != nil {
		s.jobs.put(job{do: s.notifyWaiters, id: r.ID})
		if least := time.Now().Add(answerTimeout); until.Before(least) {
			until = least
		}
	}
	s.clock.at(until, func() { s.stopWaiting(e, w) })
	s.mu.Unlock()
	if oldest != nil {
		oldest.finish(oldest.stored, nil)
	}
}

// light returns the request without its data, for waiters. The caller holds mu.
func (e *entry) light(r *held.Event) *held.Event {
	if len(e.waiters) > 0 {
		return e.waiters[0].stored
	}
	light := *r
	light.Data, light.Changes = nil, nil
	if e.pending() {
		light.Request = e.request // shares its texts
	}
	return &light
}

// stopWaiting notifies a waiter that nothing is decided yet.
func (s *Service) stopWaiting(e *entry, w *waiter) {
	s.mu.Lock()
	i := slices.Index(e.waiters, w)
	if i >= 0 {
		e.waiters = slices.Delete(e.waiters, i, i+1)
	}
	s.mu.Unlock()
	if i >= 0 {
		w.finish(w.stored, nil)
	}
}

// notifyWaiters notifies the waiters of a decided approval request.
func (s *Service) notifyWaiters(ctx context.Context, id string, try int) (done bool) {
	s.mu.Lock()
	e := s.entries[id]
	if e == nil || e.decision == nil || len(e.waiters) == 0 {
		s.mu.Unlock()
		return true
	}
	decision, stored := e.decision, e.waiters[0].stored
	s.mu.Unlock()

	if decision.Granted {
		var err error
		if stored, err = s.load(ctx, id); err != nil {
			s.options.Log.Warn("approval request not read; trying again", "approval_id", id, "error", err)
			return wire.CodeOf(err) == wire.NotFound
		}
		if err := s.dispatcher.Relabel(ctx, stored); err != nil {
			s.options.Log.Warn("labels of an approved event not stored; its agent waits", "approval_id", id, "error", err)
			return false
		}
		if err := s.remember(ctx, stored, *decision); err != nil { // before the agent goes on and asks again
			s.options.Log.Warn("approval not remembered for its session; trying again", "approval_id", id, "error", err)
			if try < 2 {
				return false
			}
		}
	}
	s.mu.Lock()
	waiters := e.waiters
	e.waiters = nil
	s.mu.Unlock()
	for _, w := range waiters {
		w.finish(stored, decision)
	}
	return true
}

// close notifies all waiters of this replica that nothing is decided yet: other replicas and the
// next process know the request too.
func (s *Service) close() {
	s.mu.Lock()
	s.closing = true
	var all []*waiter
	for _, e := range s.entries {
		all = append(all, e.waiters...)
		e.waiters = nil
	}
	watchers := s.watchers
	s.watchers = map[*watcher]struct{}{}
	s.mu.Unlock()
	for _, w := range all {
		w.finish(w.stored, nil)
	}
	for w := range watchers {
		close(w.ch)
	}
}
