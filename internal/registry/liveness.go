package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// instanceKey names an instance of a hook.
type instanceKey struct{ Hook, Instance string }

// report is what replicas send each other outside the log.
type report struct {
	Replica string        `json:"replica"`
	Applied uint64        `json:"applied,omitempty"`
	Seen    []instanceKey `json:"seen,omitempty"`
	Nobody  string        `json:"nobody,omitempty"` // id of a hook without listening workers
}

// listen applies the reports of other replicas.
func (r *Registry) listen() (stop func(), err error) {
	return r.conn.Subscribe(r.conn.Of("router", "report"), func(m *natsx.Message) {
		var rep report
		if err := json.Unmarshal(m.Data, &rep); err != nil || rep.Replica == r.options.Replica {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if p := r.replicas[rep.Replica]; p != nil && rep.Applied > p.applied {
			p.applied = rep.Applied
			r.broadcast()
		}
		now := time.Now()
		for _, key := range rep.Seen {
			if h := r.hooks[key.Hook]; h.has(key.Instance) {
				r.seen[key] = now
				h.deserted.Store(false)
			}
		}
		if h := r.hooks[rep.Nobody]; h != nil {
			h.deserted.Store(true)
		}
	})
}

func (r *Registry) send(rep report) error {
	rep.Replica = r.options.Replica
	body, err := json.Marshal(rep)
	if err != nil {
		return fmt.Errorf("report to the other routers: %w", err)
	}
	if err := r.conn.Publish(r.conn.Of("router", "report"), nil, body); err != nil {
		return fmt.Errorf("report to the other routers: %w", err)
	}
	return nil
}

// report tells the other replicas which revision this one has applied.
func (r *Registry) report(applied uint64) error { return r.send(report{Applied: applied}) }

// NobodyListens notes that no worker listens to the calls of a hook. Its instances are not
// listed as alive, here and by other replicas, until one renews. They expire as usual.
func (r *Registry) NobodyListens(id string) {
	h, _ := r.lookup(id)
	if h == nil || len(h.Instances) == 0 || h.deserted.Swap(true) {
		return
	}
	if err := r.send(report{Nobody: id}); err != nil {
		r.options.Log.Debug("hook without workers not reported", "hook", id, "error", err)
	}
}

// watchListeners notes the hooks whose workers stopped listening: a killed process does not
// unregister.
func (r *Registry) watchListeners(ctx context.Context) error {
	if r.options.Listens == nil {
		return nil
	}
	return every(ctx, r.options.TTL/15, func() {
		r.mu.Lock()
		hooks := maps.Clone(r.hooks)
		r.mu.Unlock()
		for id, h := range hooks {
			if r.options.Listens(id) {
				h.heard.Store(true)
				h.deserted.Store(false)
			} else if h.heard.Load() {
				r.NobodyListens(id)
			}
		}
	})
}

// heartbeat queues an instance's renewal for the next broadcast.
func (r *Registry) heartbeat(id, instance string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.hooks[id]; h != nil {
		h.deserted.Store(false)
	}
	key := instanceKey{id, instance}
	if r.seen != nil {
		r.seen[key] = time.Now()
	}
	r.heartbeats[key] = struct{}{}
}

// broadcastHeartbeats sends the queued heartbeats to the other replicas in few messages.
func (r *Registry) broadcastHeartbeats(ctx context.Context) error {
	return every(ctx, r.options.TTL/15, func() {
		r.mu.Lock()
		all := slices.Collect(maps.Keys(r.heartbeats))
		clear(r.heartbeats)
		r.mu.Unlock()
		for batch := range slices.Chunk(all, 500) {
			if err := r.send(report{Seen: batch}); err != nil {
				r.options.Log.Debug("heartbeat broadcast failed", "error", err)
				return
			}
		}
	})
}

// expire removes instances without a heartbeat for a whole time-to-live, and records of replicas
// whose lease ended long ago.
func (r *Registry) expire(ctx context.Context) error {
	return every(ctx, r.options.TTL/5, func() {
		if !r.Current() {
			return
		}
		for _, key := range r.staleInstances() {
			r.expireInstance(ctx, key)
		}
		for id, rev := range r.staleReplicas() {
			_ = r.bucket.Remove(ctx, replicaKey+id, rev) // another replica may have removed it
		}
	})
}

func (r *Registry) expireInstance(ctx context.Context, key instanceKey) {
	r.mu.Lock()
	h := r.hooks[key.Hook]
	stale := h.has(key.Instance) && time.Since(r.seen[key]) > r.longestTTL()
	r.mu.Unlock()
	if !stale { // it renewed, or was removed, meanwhile
		return
	}
	change := removing("", h, key.Instance)
	change.Action, change.Reason = "expired", "the instance stopped renewing"
	var revision uint64
	err := r.options.Record(ctx, change)
	if err == nil {
		revision, err = r.drop(ctx, h, key.Instance)
	}
	switch {
	case err == nil:
		r.expired.Add(1)
		r.options.Changed(change.Action, key.Hook)
		r.options.Log.Debug("hook instance expired", "hook", key.Hook, "instance", key.Instance,
			"ttl", r.options.TTL, "stays_registered", h.Registration.StaysRegistered())
		r.waitRead(ctx, key.Hook, revision) // until then the instance would be recorded as expired again
	case !errors.Is(err, natsx.ErrRevision):
		r.options.Log.Warn("hook instance not expired", "hook", key.Hook, "instance", key.Instance, "error", err)
	}
}

// staleInstances returns the instances that are due to expire, and forgets unregistered ones.
func (r *Registry) staleInstances() []instanceKey {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []instanceKey
	ttl := r.longestTTL()
	for key, at := range r.seen {
		switch {
		case time.Since(at) <= ttl:
		case r.hooks[key.Hook].has(key.Instance):
			list = append(list, key)
		default:
			delete(r.seen, key)
		}
	}
	return list
}

// mustWrite reports whether an instance's last heartbeat is so old that another replica may be
// about to expire it. Then its renewal must be written.
func (r *Registry) mustWrite(id, inst string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Since(r.seen[instanceKey{id, inst}]) > r.options.TTL/2
}

// every calls do on each tick until ctx ends.
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
