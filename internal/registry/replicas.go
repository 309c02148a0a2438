package registry

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// peer is what one replica knows of another, or of itself.
type peer struct {
	applied  uint64
	format   int // of the audit log, from its newest record
	ttl      time.Duration
	renewals []renewal // whose lease may still be used, oldest first; never empty
}

// renewal is a replica's record in the log, and when its lease ends as seen from here.
type renewal struct {
	revision uint64
	until    time.Time
}

func (p *peer) last() renewal { return p.renewals[len(p.renewals)-1] }

// replica applies another replica's renewal, or the return of this one's own. The caller holds
// mu.
func (f *follower) replica(id string, e natsx.Entry, now time.Time) {
	r := f.registry
	if e.Value == nil {
		delete(r.replicas, id)
		return
	}
	var rec replica
	if err := json.Unmarshal(e.Value, &rec); err != nil {
		f.registry.options.Log.Error("replica record unreadable; skipped", "replica", id, "error", err)
		return
	}
	margin := f.registry.options.Lease / 10 // clocks run at slightly different speeds
	until := now.Add(f.registry.options.Lease + margin)
	p := r.replicas[id]
	if p == nil {
		p = &peer{}
		r.replicas[id] = p
		if !f.loaded { // only its newest record is left: its lease may come from an older one
			p.renewals = []renewal{{0, until}}
		}
	}
	if rec.TTL != p.ttl && rec.TTL != 0 && rec.TTL != r.options.TTL {
		r.options.Log.Warn("replicas have different --ttl: instances expire after the longest", "replica", id,
			"replica_ttl", rec.TTL, "ttl", r.options.TTL)
	}
	p.applied, p.format, p.ttl = max(p.applied, rec.Applied), rec.AuditFormat, rec.TTL
	p.renewals = slices.DeleteFunc(p.renewals, func(old renewal) bool { return now.After(old.until) })
	p.renewals = append(p.renewals, renewal{e.Revision, until})
	if id == f.registry.options.Replica {
		f.lease.returned(rec.Renewal)
	}
}

// AuditFormat returns the newest audit log format that every replica knows. known is false if this
// replica may have missed one that joined.
func (r *Registry) AuditFormat() (oldest int, known bool) {
	if !r.Current() && !r.left.Load() {
		return 0, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	oldest = r.options.AuditFormat
	for _, p := range r.replicas {
		oldest = min(oldest, p.format)
	}
	return oldest, true
}

// longestTTL returns the longest time-to-live of all replicas: a worker renews as often as the
// replica that registered it asks. The caller holds mu.
func (r *Registry) longestTTL() time.Duration {
	longest := r.options.TTL
	for _, p := range r.replicas {
		longest = max(longest, p.ttl)
	}
	return longest
}

// staleReplicas returns the replicas whose lease ended long ago, with their revisions.
func (r *Registry) staleReplicas() map[string]uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := map[string]uint64{}
	for id, p := range r.replicas {
		if id != r.options.Replica && time.Since(p.last().until) > 10*r.options.Lease {
			list[id] = p.last().revision
		}
	}
	return list
}
