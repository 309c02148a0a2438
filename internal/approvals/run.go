package approvals

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// workers is how many questions are decided or answered at the same time.
const workers = 16

// Run follows the store and decides what expires, until ctx ends. Then those who
// wait here are told to ask again.
func (d *Service) Run(ctx context.Context) {
	var wg sync.WaitGroup
	wg.Go(func() { d.clock.run(ctx) })
	for range workers {
		wg.Go(func() { d.jobs.run(ctx, &d.clock) })
	}
	for ctx.Err() == nil {
		err := d.follow(ctx)
		if ctx.Err() != nil || errors.Is(err, errReconnected) {
			continue
		}
		d.Log.Warn("lost sight of the approvals, trying again", "error", err)
		pause(ctx, retryPause)
	}
	wg.Wait()
	d.close()
}

// errReconnected means that the connection is back: what the store sent meanwhile
// is asked for at once, where the client library would wait for missing heartbeats.
var errReconnected = errors.New("the connection is back")

// follow follows the questions and, once they are known, the decisions.
func (d *Service) follow(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := func() { cancel(nil) }
	defer d.bus.OnReconnect(func() { cancel(errReconnected) })()
	defer func() {
		if errors.Is(context.Cause(ctx), errReconnected) {
			err = errReconnected
		}
	}()
	start, err := d.bucket.Last(ctx)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	failed := make(chan error, 2)
	loaded := make(chan struct{})
	var once sync.Once
	wg.Go(func() {
		failed <- d.bucket.Follow(ctx, func(batch []natsx.Entry, all bool) error {
			d.take(batch, all, start)
			if all {
				once.Do(func() { close(loaded) })
			}
			return nil
		})
	})
	defer stop() // before the wait
	select {
	case <-loaded:
	case err := <-failed:
		return err
	}
	wg.Go(func() {
		failed <- d.log.FollowDecisions(ctx, d.oldest().Add(-time.Hour), d.read, d.caughtUp)
	})
	return <-failed
}

// take takes a batch of the bucket's log in.
func (d *Service) take(batch []natsx.Entry, all bool, start uint64) {
	questions := make([]*Stored, len(batch))
	var upTo uint64
	for i, e := range batch {
		upTo = max(upTo, e.Revision)
		if e.Value == nil {
			continue
		}
		s, err := decodeStored(e)
		if err != nil {
			d.Log.Error("a question can't be read: it is left out", "approval", e.Key, "error", err)
			continue
		}
		questions[i] = s
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, e := range batch {
		switch {
		case e.Value == nil:
			d.forget(e.Key)
		case questions[i] != nil:
			d.learn(questions[i], len(e.Value))
		}
	}
	if all {
		upTo = max(upTo, start)
	}
	if upTo > d.applied {
		d.applied = upTo
		close(d.moved)
		d.moved = make(chan struct{})
	}
}

// oldest is when the oldest known question was asked.
func (d *Service) oldest() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := time.Now()
	for _, e := range d.questions {
		if e.known && e.question.Created.Before(t) {
			t = e.question.Created.Time
		}
	}
	return t
}

// read takes a message of the stream in.
func (d *Service) read(rec natsx.Record) {
	id := rec.Subject[strings.LastIndexByte(rec.Subject, '.')+1:]
	line := decodeDecision(id, rec.Body)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.decided(id, line.Decision)
}

// caughtUp begins the time of what is open, once all that was there is known.
func (d *Service) caughtUp() {
	d.mu.Lock()
	defer d.mu.Unlock()
	old := time.Now().Add(-time.Hour)
	for id, e := range d.questions {
		switch {
		case !e.known && e.decision.Decided.Before(old):
			delete(d.questions, id) // its question was dropped long ago
		case e.pending() && !d.current:
			d.begin(e)
		}
	}
	d.current = true
	d.once.Do(func() { close(d.loaded) })
}

// retryPause is how long to wait before something that failed is tried again.
const retryPause = 250 * time.Millisecond

func pause(ctx context.Context, t time.Duration) {
	select {
	case <-time.After(t):
	case <-ctx.Done():
	}
}
