package registry

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/bus"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// follower applies the log of the bucket, batch by batch, in its order. Only the
// goroutine of [bus.Bucket.Follow] uses it.
type follower struct {
	*Registry
	lease *lease
	next  *chain.Table // what the log says so far
}

// apply takes one batch. Until everything that the bucket holds was given, the
// table that is served stays as it was.
func (f *follower) apply(batch []bus.Entry, loaded bool) error {
	hooks := make(map[string]*hook, len(batch))
	var changes []chain.Change
	for _, e := range batch {
		if id, ok := strings.CutPrefix(e.Key, hookKey); ok {
			h := f.decode(id, e)
			hooks[id] = h
			change := chain.Change{ID: id}
			if h != nil {
				change.Link = h.link
			}
			changes = append(changes, change)
		}
	}
	if len(changes) > 0 {
		f.next = f.next.Apply(changes...)
	}
	if loaded {
		f.table.Store(f.next) // before applied says so
	}
	applied := f.note(batch, hooks)
	if !loaded {
		return nil
	}
	f.lease.take()
	if len(changes) > 0 {
		return f.report(applied)
	}
	return nil
}

func (f *follower) decode(id string, e bus.Entry) *hook {
	if e.Value == nil {
		f.Log.Debug("hook removed", "hook", id, "revision", e.Revision)
		return nil
	}
	h, err := decodeHook(e, f.Compile)
	if err != nil {
		f.Log.Error("a registration can't be read: it is left out", "hook", id, "error", err)
		return nil
	}
	f.Log.Debug("hook registered", "hook", id, "revision", e.Revision, "instances", len(h.Instances))
	return h
}

// note takes over what a batch says and returns the revision that it ends with.
func (f *follower) note(batch []bus.Entry, hooks map[string]*hook) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	for _, e := range batch {
		f.applied = max(f.applied, e.Revision)
		if id, ok := strings.CutPrefix(e.Key, replicaKey); ok {
			f.replica(id, e, now)
		}
	}
	for id, h := range hooks {
		if h == nil {
			delete(f.hooks, id)
			continue
		}
		f.hooks[id] = h
		for inst := range h.Instances {
			if key := (seenKey{id, inst}); f.seen[key].IsZero() {
				f.seen[key] = now
			}
		}
	}
	f.announce()
	return f.applied
}

// replica takes over another replica's renewal, or sees the own one come back.
// The caller holds mu.
func (f *follower) replica(id string, e bus.Entry, now time.Time) {
	if e.Value == nil {
		delete(f.replicas, id)
		return
	}
	var rec replica
	if err := json.Unmarshal(e.Value, &rec); err != nil {
		f.Log.Error("a replica's record can't be read", "replica", id, "error", err)
		return
	}
	p := f.replicas[id]
	if p == nil {
		p = &peer{}
		f.replicas[id] = p
	}
	p.applied = max(p.applied, rec.Applied)
	p.renewals = slices.DeleteFunc(p.renewals, func(r renewal) bool { return now.After(r.until) })
	margin := f.Registry.Lease / 10 // clocks do not run at quite the same speed
	p.renewals = append(p.renewals, renewal{e.Revision, now.Add(f.Registry.Lease + margin)})
	if id == f.Replica {
		f.lease.returned(rec.Renewal)
	}
}
