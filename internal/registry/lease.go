package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// errLeaseLost restarts a replica that could not renew for a while.
var errLeaseLost = errors.New("the lease could not be renewed")

// lease renews a replica's right to use its table.
type lease struct {
	registry *Registry
	loaded   chan struct{} // closed once the follower has received the whole bucket

	mu    sync.Mutex           // guards the fields below
	sent  map[uint64]time.Time // write times of the renewals that have not come back
	start time.Time            // of the newest renewal that came back; zero for none
}

// renew writes this replica's record three times per lease, and retries a failed write after a
// tenth of that time: just after a reconnect the server may not have the bucket yet. It fails if
// no record came back for two leases.
//
// It begins once the bucket is loaded. If a record is replaced while a watch is being opened, the
// server miscounts the pending records of the watch, and no record counts as the last of the log.
func (l *lease) renew(ctx context.Context) error {
	r := l.registry
	select {
	case <-l.loaded:
	case <-time.After(2 * r.options.Lease):
		return errLeaseLost
	case <-ctx.Done():
		return nil
	}
	began := time.Now()
	for {
		next := time.Now().Add(r.options.Lease / 3)
		if err := l.write(ctx); err != nil && ctx.Err() == nil {
			r.options.Log.Warn("lease renewal failed", "error", err)
			next = time.Now().Add(r.options.Lease / 30)
		}
		l.mu.Lock()
		last := l.start
		l.mu.Unlock()
		if last.Before(began) {
			last = began
		}
		if time.Since(last) > 2*r.options.Lease {
			return errLeaseLost
		}
		select {
		case <-time.After(time.Until(next)):
		case <-ctx.Done():
			return nil
		}
	}
}

func (l *lease) write(ctx context.Context) error {
	r := l.registry
	r.mu.Lock()
	r.renewals++ // never the number of an older record
	rec := replica{Renewal: r.renewals, Applied: r.applied, AuditFormat: r.options.AuditFormat, TTL: r.options.TTL}
	r.mu.Unlock()
	l.mu.Lock()
	l.sent[rec.Renewal] = time.Now()
	l.mu.Unlock()
	body, err := json.Marshal(rec)
	if err != nil {
		return fmt.Errorf("write the lease: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, r.options.Lease)
	defer cancel()
	_, err = r.bucket.Put(ctx, replicaKey+r.options.Replica, body)
	return err
}

// returned notes that a renewal came back through the log.
func (l *lease) returned(count uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, ok := l.sent[count]
	if !ok { // from before this lease
		return
	}
	l.start = at
	for n := range l.sent {
		if n <= count {
			delete(l.sent, n)
		}
	}
}

// began reports whether a renewal came back.
func (l *lease) began() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.start.IsZero()
}

// confirm extends the lease by the renewals that came back. It is called when the table is up to
// date.
func (l *lease) confirm() {
	l.mu.Lock()
	start := l.start
	l.mu.Unlock()
	r := l.registry
	if start.IsZero() {
		return
	}
	lapsed := !r.Current()
	r.leaseUntil.Store(int64(start.Add(r.options.Lease).Sub(r.started)))
	if !lapsed || !r.Current() {
		return
	}
	r.extendAll()
}

// extendAll grants every instance a whole time-to-live. It is called after each gap in which this
// replica may have missed heartbeats.
func (r *Registry) extendAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for key := range r.seen {
		r.seen[key] = now
	}
	r.broadcast()
}

// leave gives up the lease, so that no replica waits for this one.
func (r *Registry) leave() {
	r.mu.Lock()
	own := r.replicas[r.options.Replica]
	r.mu.Unlock()
	if own == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := r.bucket.Remove(ctx, replicaKey+r.options.Replica, own.last().revision); err != nil {
		r.options.Log.Debug("lease not given up; it will expire", "error", err)
	}
}

// waitApplied waits until no replica uses a table older than revision.
func (r *Registry) waitApplied(ctx context.Context, revision uint64) error {
	for {
		r.mu.Lock()
		changed := r.changed
		until, waiting := r.behind(revision)
		r.mu.Unlock()
		if !waiting {
			return nil
		}
		timer := time.NewTimer(time.Until(until))
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("not every router has seen it yet: %w", ctx.Err())
		}
		timer.Stop()
	}
}

// everywhere reports whether no replica uses a table older than revision.
func (r *Registry) everywhere(revision uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, waiting := r.behind(revision)
	return !waiting
}

// behind reports whether a replica may still use a table older than revision, and when to look
// again. The caller holds mu.
//
// Only leases from before revision count: a replica gets a later one by reading a later record, and
// then its table contains revision.
func (r *Registry) behind(revision uint64) (until time.Time, waiting bool) {
	now := time.Now()
	if r.applied < revision {
		return now.Add(r.options.Lease), true
	}
	for id, p := range r.replicas {
		if id == r.options.Replica || p.applied >= revision {
			continue
		}
		for _, renewal := range p.renewals {
			if renewal.revision < revision && now.Before(renewal.until) && (!waiting || renewal.until.Before(until)) {
				until, waiting = renewal.until, true
			}
		}
	}
	return until, waiting
}
