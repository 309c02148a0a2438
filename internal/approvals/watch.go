package approvals

import "github.com/hookrouter/hookrouter/pkg/approval"

// watcher receives notices of new requests and decisions.
type watcher struct {
	ch   chan approval.Notice
	lost bool // it was too slow for a notice
}

// watchBuffer bounds the queued notices of a slow reader.
const watchBuffer = 256

// Watch sends a notice of each new request and decision until stop is called, which closes the
// channel.
func (s *Service) Watch() (notices <-chan approval.Notice, stop func()) {
	w := &watcher{ch: make(chan approval.Notice, watchBuffer)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		close(w.ch)
		return w.ch, func() {}
	}
	s.watchers[w] = struct{}{}
	return w.ch, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if _, there := s.watchers[w]; there {
			delete(s.watchers, w)
			close(w.ch)
		}
	}
}

// publish sends a notice to the watchers without blocking. The caller holds mu.
func (s *Service) publish(n approval.Notice) {
	if len(s.watchers) == 0 {
		return
	}
	n.Request = s.Masked(n.Request)
	for w := range s.watchers {
		n.Lost = w.lost
		select {
		case w.ch <- n:
			w.lost = false
		default:
			w.lost = true
		}
	}
}
