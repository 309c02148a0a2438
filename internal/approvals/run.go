package approvals

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/natsx"
)

// workers is the number of concurrent jobs.
const workers = 16

// Run follows the store and decides what expires, until ctx ends. Then it notifies its waiters that
// nothing is decided yet.
func (s *Service) Run(ctx context.Context) {
	var wg sync.WaitGroup
	wg.Go(func() { s.clock.run(ctx) })
	wg.Go(func() { s.askTime(ctx) })
	for range workers {
		wg.Go(func() { s.jobs.run(ctx, &s.clock) })
	}
	for ctx.Err() == nil {
		err := s.follow(ctx)
		if ctx.Err() != nil || errors.Is(err, natsx.ErrReconnected) {
			continue
		}
		s.options.Log.Warn("approvals not followed; trying again", "error", err)
		pause(ctx, retryPause)
	}
	wg.Wait()
	s.close()
}

// askTime asks NATS for the time every minute.
func (s *Service) askTime(ctx context.Context) {
	for pause(ctx, time.Minute); ctx.Err() == nil; pause(ctx, time.Minute) {
		if err := s.time.Ask(ctx, s.bucket, 0); err != nil && ctx.Err() == nil {
			s.options.Log.Debug("could not ask NATS for the time; trying again", "error", err)
		}
	}
}

// follow follows the approval requests and, once they are known, the decisions.
func (s *Service) follow(ctx context.Context) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := s.time.Ask(ctx, s.bucket, 0); err != nil {
		return err
	}
	start, err := s.bucket.Last(ctx)
	if err != nil {
		return err
	}
	failed := make(chan error, 2)
	loaded := make(chan struct{})
	isLoaded := sync.OnceFunc(func() { close(loaded) })
	wg.Go(func() {
		failed <- s.bucket.Follow(ctx, func(batch []natsx.Entry, all bool) error {
			s.applyBatch(batch, all, start)
			if all {
				isLoaded()
			}
			return nil
		})
	})
	select {
	case <-loaded:
	case err := <-failed:
		return err
	}
	wg.Go(func() {
		failed <- s.log.FollowDecisions(ctx, s.oldest().Add(-time.Hour), s.applyDecision, s.caughtUp)
	})
	return <-failed
}

// applyBatch applies a batch of the bucket's log. loaded reports whether it completes what was
// stored at the start.
func (s *Service) applyBatch(batch []natsx.Entry, loaded bool, start uint64) {
	requests := make([]*held.Event, len(batch))
	var upTo uint64
	for i, e := range batch {
		upTo = max(upTo, e.Revision)
		if e.Value == nil {
			continue
		}
		r, err := held.Decode(e.Value)
		if err != nil {
			s.options.Log.Error("approval request unreadable; skipped", "approval_id", e.Key, "error", err)
			continue
		}
		requests[i] = r
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, e := range batch {
		switch {
		case e.Value == nil:
			s.drop(e.Key)
		case requests[i] != nil:
			s.addRequest(requests[i], len(e.Value))
		}
	}
	if loaded {
		upTo = max(upTo, start)
	}
	if upTo > s.applied {
		s.applied = upTo
		close(s.moved)
		s.moved = make(chan struct{})
	}
}

// oldest returns when the oldest known approval request was created.
func (s *Service) oldest() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := time.Now()
	for _, e := range s.entries {
		if e.known && e.request.Created.Before(t) {
			t = e.request.Created.Time
		}
	}
	return t
}

// applyDecision applies a message of a segment of the stream.
func (s *Service) applyDecision(segment int, rec natsx.Record) {
	id := rec.Subject[strings.LastIndexByte(rec.Subject, '.')+1:]
	decision := decodeDecision(id, rec.Body).Decision
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addDecision(id, decision, segment)
}

// caughtUp starts the timers of open requests, once everything that was stored is known.
func (s *Service) caughtUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := time.Now().Add(-time.Hour)
	for id, e := range s.entries {
		switch {
		case !e.known && e.decision.Decided.Before(old):
			delete(s.entries, id) // its request was dropped long ago
		case e.known && e.request.Expires.Add(keptAfter).Before(old):
			s.drop(id) // the store dropped it, maybe while this replica was away
		case e.pending() && !s.current:
			s.startTimer(e)
		}
	}
	s.current = true
	s.once.Do(func() { close(s.loaded) })
}

func pause(ctx context.Context, t time.Duration) {
	select {
	case <-time.After(t):
	case <-ctx.Done():
	}
}
