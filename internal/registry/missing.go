package registry

import (
	"encoding/json"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// wasDeleted is why a hook is lost if the bucket has only the marker of a deletion for it.
const wasDeleted = "was deleted from the bucket of registrations"

// deleted reports whether a durable hook was deleted from the bucket. Routers write tombstones
// instead, so such a hook is lost, and stays in the table.
func (f *follower) deleted(id string, batch map[string]*hook) bool {
	h := f.latest(id, batch)
	if h == nil || !h.Registration.StaysRegistered() {
		return false
	}
	f.registry.lose(id, wasDeleted)
	return true
}

// older looks for a bucket that is older than what this replica has read: labels and orders may be
// gone. applied includes a record that this replica wrote after it began to follow, so the store
// has no newer records that it has merely not delivered yet.
func (f *follower) older(applied uint64) {
	r := f.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	if applied < r.knownAt {
		r.lose("", fmt.Sprintf("the bucket of registrations is at revision %d, but this router has read revision %d", applied, r.knownAt))
	}
	r.knownAt = applied
}

// loss applies the record of lost registrations, and reports whether a loss was accepted: one that
// this replica knew, or one that it missed while it was away.
func (f *follower) loss(e natsx.Entry) (accepted bool) {
	l := new(loss)
	if err := json.Unmarshal(e.Value, l); err != nil {
		l = &loss{Hook: "unknown", Why: "may be gone: the record of the loss can't be read"}
	} else if l.Why == "" {
		l = nil
	}
	r := f.registry
	r.lostAt.Store(e.Revision)
	r.unreported.Store(nil) // another replica stored it first
	was := r.lost.Swap(l)
	if l != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	missed := e.Revision > r.accepted && r.known != nil
	r.accepted = max(r.accepted, e.Revision)
	return was != nil || missed
}
