package registry

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// follower applies the log of the bucket, batch by batch, in its order. Only the
// goroutine of [natsx.Bucket.Follow] uses it.
type follower struct {
	*Registry
	lease *lease
	next  *chain.Table // what the log says so far

	loaded  bool   // everything that the bucket held at first was given
	changes int    // of hooks since the last report
	upTo    uint64 // the revision that the log was given up to
}

// apply takes one batch. Until everything that the bucket holds was given, the
// table that is served stays as it was.
//
// The bucket keeps one record of each key: where a key was written again, its
// older record is not given any more. So while records wait behind a batch, one
// that is due may be missing from it, and nothing is taken as applied, nor a lease
// as held, before a batch that ends with the last record of the log.
func (f *follower) apply(batch []natsx.Entry, loaded bool) error {
	hooks := make(map[string]*hook, len(batch))
	var changes []chain.Change
	for _, e := range batch {
		if id, ok := strings.CutPrefix(e.Key, hookKey); ok {
			h := f.decode(id, e)
			hooks[id] = h
			change := chain.Change{ID: id}
			if h != nil {
				change.Entry = h.link
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
	f.changes += len(changes)
	complete := loaded && len(batch) > 0 && batch[len(batch)-1].Last
	applied := f.note(batch, hooks, complete)
	f.loaded = loaded
	if !complete {
		return nil
	}
	f.lease.take()
	if f.changes > 0 {
		f.changes = 0
		return f.report(applied)
	}
	return nil
}

func (f *follower) decode(id string, e natsx.Entry) *hook {
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

// note takes over what a batch says and returns the revision that is applied.
func (f *follower) note(batch []natsx.Entry, hooks map[string]*hook, complete bool) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	for _, e := range batch {
		f.upTo = max(f.upTo, e.Revision)
		if id, ok := strings.CutPrefix(e.Key, replicaKey); ok {
			f.replica(id, e, now)
		}
	}
	if complete {
		f.applied = f.upTo
	}
	for id, h := range hooks {
		if h == nil {
			delete(f.hooks, id)
			continue
		}
		old := f.hooks[id]
		f.hooks[id] = h
		for inst, is := range h.Instances {
			key := seenKey{id, inst}
			if f.seen[key].IsZero() || old == nil || old.Instances[inst] != is {
				f.seen[key] = now
			}
		}
	}
	f.announce()
	return f.applied
}

// replica takes over another replica's renewal, or sees the own one come back.
// The caller holds mu.
func (f *follower) replica(id string, e natsx.Entry, now time.Time) {
	if e.Value == nil {
		delete(f.replicas, id)
		return
	}
	var rec replica
	if err := json.Unmarshal(e.Value, &rec); err != nil {
		f.Log.Error("a replica's record can't be read", "replica", id, "error", err)
		return
	}
	margin := f.Registry.Lease / 10 // clocks do not run at quite the same speed
	until := now.Add(f.Registry.Lease + margin)
	p := f.replicas[id]
	if p == nil {
		p = &peer{}
		f.replicas[id] = p
		if !f.loaded { // only its newest record is left: it may hold a lease from an older one
			p.renewals = []renewal{{0, until}}
		}
	}
	p.applied, p.format = max(p.applied, rec.Applied), rec.AuditFormat
	p.renewals = slices.DeleteFunc(p.renewals, func(r renewal) bool { return now.After(r.until) })
	p.renewals = append(p.renewals, renewal{e.Revision, until})
	if id == f.Replica {
		f.lease.returned(rec.Renewal)
	}
}
