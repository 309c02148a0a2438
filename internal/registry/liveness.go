package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// seenKey names an instance of a hook.
type seenKey struct{ Hook, Instance string }

// report is what replicas tell each other besides the log.
type report struct {
	Replica string    `json:"replica"`
	Applied uint64    `json:"applied,omitempty"`
	Seen    []seenKey `json:"seen,omitempty"`
}

// listen takes the reports of other replicas.
func (r *Registry) listen() (stop func(), err error) {
	return r.bus.Subscribe(r.bus.Of("router", "report"), func(m *natsx.Message) {
		var rep report
		if err := json.Unmarshal(m.Data, &rep); err != nil || rep.Replica == r.Replica {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if p := r.replicas[rep.Replica]; p != nil && rep.Applied > p.applied {
			p.applied = rep.Applied
			r.announce()
		}
		now := time.Now()
		for _, key := range rep.Seen {
			if h := r.hooks[key.Hook]; h != nil {
				if _, ok := h.Instances[key.Instance]; ok {
					r.seen[key] = now
				}
			}
		}
	})
}

func (r *Registry) send(rep report) error {
	rep.Replica = r.Replica
	body, err := json.Marshal(rep)
	if err != nil {
		return fmt.Errorf("report to the other routers: %w", err)
	}
	if err := r.bus.Publish(r.bus.Of("router", "report"), nil, body); err != nil {
		return fmt.Errorf("report to the other routers: %w", err)
	}
	return nil
}

// report tells the other replicas which revision this one has applied.
func (r *Registry) report(applied uint64) error { return r.send(report{Applied: applied}) }

// heard notes a sign of life of an instance, to be told to the other replicas.
func (r *Registry) heard(id, instance string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := seenKey{id, instance}
	if r.seen != nil {
		r.seen[key] = time.Now()
	}
	r.fresh = append(r.fresh, key)
}

// tell passes signs of life on, many in one message.
func (r *Registry) tell(ctx context.Context) error {
	return every(ctx, r.TTL/15, func() {
		r.mu.Lock()
		fresh := r.fresh
		r.fresh = nil
		r.mu.Unlock()
		for len(fresh) > 0 {
			n := min(len(fresh), 500)
			if err := r.send(report{Seen: fresh[:n]}); err != nil {
				r.Log.Debug("could not pass signs of life on", "error", err)
				return
			}
			fresh = fresh[n:]
		}
	})
}

// expire removes instances that nobody heard of for a whole time-to-live, and
// records of replicas that are long gone.
func (r *Registry) expire(ctx context.Context) error {
	return every(ctx, r.TTL/5, func() {
		if !r.Current() {
			return
		}
		for _, key := range r.silent() {
			r.removeSilent(ctx, key)
		}
		for id, rev := range r.gone() {
			_ = r.bucket.Remove(ctx, replicaKey+id, rev) // another replica may be faster
		}
	})
}

func (r *Registry) removeSilent(ctx context.Context, key seenKey) {
	r.mu.Lock()
	h := r.hooks[key.Hook]
	silent := h != nil && r.isSilent(h, key)
	r.mu.Unlock()
	if !silent { // it was heard of, or removed, meanwhile
		return
	}
	change := removing("", h, key.Instance)
	change.Action, change.Reason = "expired", "the instance stopped renewing"
	err := r.Record(ctx, change)
	if err == nil {
		err = r.drop(ctx, h, key.Instance)
	}
	switch {
	case err == nil:
		r.expired.Add(1)
		r.Changed(change.Action, key.Hook)
		r.Log.Debug("an instance of a hook stopped renewing: removed", "hook", key.Hook, "instance", key.Instance,
			"ttl", r.TTL, "stays_registered", h.Registration.StaysRegistered())
	case !errors.Is(err, natsx.ErrRevision):
		r.Log.Warn("could not remove a silent instance", "hook", key.Hook, "instance", key.Instance, "error", err)
	}
}

// silent lists instances that are due to be removed, and forgets those that are
// not registered any more.
func (r *Registry) silent() []seenKey {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []seenKey
	for key, at := range r.seen {
		switch h := r.hooks[key.Hook]; {
		case h != nil && r.isSilent(h, key):
			list = append(list, key)
		case time.Since(at) > r.TTL:
			delete(r.seen, key)
		}
	}
	return list
}

// isSilent reports whether an instance of a hook was not heard of for a whole
// time-to-live. The caller holds mu.
func (r *Registry) isSilent(h *hook, key seenKey) bool {
	_, registered := h.Instances[key.Instance]
	return registered && time.Since(r.seen[key]) > r.TTL
}

// due reports whether an instance was silent for so long that another replica may
// be about to remove it: then its renewal has to be written.
func (r *Registry) due(id, inst string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Since(r.seen[seenKey{id, inst}]) > r.TTL/2
}

// gone lists replicas whose lease ran out long ago, with their revision.
func (r *Registry) gone() map[string]uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := map[string]uint64{}
	for id, p := range r.replicas {
		if id != r.Replica && time.Since(p.last().until) > 10*r.Lease {
			list[id] = p.last().revision
		}
	}
	return list
}

// every calls do with each tick until ctx ends.
func every(ctx context.Context, period time.Duration, do func()) error {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			do()
		case <-ctx.Done():
			return nil
		}
	}
}
