package approvals

import (
	"time"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/sessionkey"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// entry is one approval request in memory, without its data.
type entry struct {
	request  approval.Request // without its texts once it is decided
	owned    string           // the session, as sessionkey.Of names it
	emitter  string           // the event's proven sender; empty for none
	known    bool             // the request was seen; its decision may come first
	segment  int              // the first of the audit log that may hold its decision
	sent     string           // digest of the event's data
	size     int              // bytes in the store
	decision *approval.Decision
	decided  int // the segment of decision, or an earlier one
	waiters  []*waiter
}

func (e *entry) pending() bool { return e.known && e.decision == nil }

// load is how much of the limits a session uses, or a proven agent over all its sessions.
type load struct {
	open, kept int
	bytes      int64
}

// agentShare is the divisor for one proven agent's share of all open and kept requests: a tenth,
// so that no agent crowds out others with many sessions.
const agentShare = 10

// entry returns the entry of an id, and creates it if missing. The caller holds mu.
func (s *Service) entry(id string) *entry {
	e := s.entries[id]
	if e == nil {
		e = &entry{}
		s.entries[id] = e
	}
	return e
}

// addRequest adds an approval request of size bytes. One that was stored later replaces an earlier
// one of the same id: the store has dropped that. The caller holds mu.
func (s *Service) addRequest(r *held.Event, size int) {
	e := s.entry(r.ID)
	if e.known && r.Created.After(e.request.Created.Time) {
		s.drop(r.ID)
		e = s.entry(r.ID)
	}
	if e.known {
		s.addReviews(e, r)
		return
	}
	if e.segment = r.FirstSegment(); e.decided < e.segment {
		e.decision = nil // that of an earlier request
	}
	e.known, e.request, e.owned, e.emitter, e.sent, e.size = true, r.Request, sessionkey.Of(r.Emitter, r.Session), r.Emitter, r.Sent, size
	s.count(e, 1, 1)
	if e.decision != nil {
		s.closeEntry(e)
		return
	}
	if s.current {
		s.startTimer(e)
		s.publish(approval.Notice{Request: e.request})
	}
}

// addReviews adds the answers that did not end the request. The caller holds mu.
func (s *Service) addReviews(e *entry, r *held.Event) {
	if e.decision != nil || len(r.Reviews) <= len(e.request.Reviews) {
		return
	}
	e.request.Reviews, e.request.Progress = r.Reviews, r.Progress
	if s.current {
		s.publish(approval.Notice{Request: e.request})
	}
}

// addDecision adds a decision from a segment of the stream, unless it is that of an earlier
// request: its segment was closed when the present one was stored. The caller holds mu.
func (s *Service) addDecision(id string, decision approval.Decision, segment int) {
	e := s.entry(id)
	if e.decision != nil && (e.known || segment <= e.decided) || segment < e.segment {
		return
	}
	e.decision, e.decided = &decision, segment
	if e.known {
		s.closeEntry(e)
	}
}

// startTimer schedules the decision at the deadline. The caller holds mu.
func (s *Service) startTimer(e *entry) {
	id := e.request.ID
	left := e.request.Expires.Sub(s.time.Now())
	s.clock.at(time.Now().Add(left), func() { s.jobs.put(job{do: s.expire, id: id}) })
}

// closeEntry notifies the waiters of a decided approval request and drops its texts. The caller
// holds mu.
func (s *Service) closeEntry(e *entry) {
	s.count(e, -1, 0)
	if s.current {
		s.publish(approval.Notice{Request: e.request, Decision: e.decision})
	}
	if len(e.waiters) > 0 {
		s.jobs.put(job{do: s.notifyWaiters, id: e.request.ID})
	}
	q := e.request
	e.request = approval.Request{ID: q.ID, Session: q.Session, Created: q.Created, Expires: q.Expires}
}

// drop removes an approval request that the store dropped. Its waiters are notified when their
// wait ends. The caller holds mu.
func (s *Service) drop(id string) {
	e := s.entries[id]
	if e == nil {
		return
	}
	if e.known {
		open := 0
		if e.pending() {
			open = -1
		}
		s.count(e, open, -1)
	}
	delete(s.entries, id)
}

// count updates the counts of open and kept requests. The caller holds mu.
func (s *Service) count(e *entry, open, kept int) {
	more := load{open, kept, int64(kept) * int64(e.size)}
	s.open += more.open
	s.kept += more.bytes
	add(s.sessions, e.owned, more)
	if e.emitter != "" {
		add(s.agents, e.emitter, more)
	}
}

func add(loads map[string]load, name string, more load) {
	sum := loads[name]
	sum.open, sum.kept, sum.bytes = sum.open+more.open, sum.kept+more.kept, sum.bytes+more.bytes
	if loads[name] = sum; sum == (load{}) {
		delete(loads, name)
	}
}

// apply adds an approval request and its decision from the stream.
func (s *Service) apply(r *held.Event, decision approval.Decision) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addRequest(r, len(r.Data))
	s.addDecision(r.ID, decision, r.FirstSegment())
}

// knownDecision returns the decision on an approval request that this replica knows, nil for none.
func (s *Service) knownDecision(r *held.Event) *approval.Decision {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.entries[r.ID]; e != nil && e.decided >= r.FirstSegment() {
		return e.decision
	}
	return nil
}
