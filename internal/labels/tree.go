package labels

import (
	"maps"
	"slices"
	"sync/atomic"
	"time"
)

// tree is a set of sessions joined by claims.
type tree struct {
	members []*node
	labels  []string             // of all members, sorted
	added   map[string]time.Time // by label, when a member last got it
	foreign map[string]struct{}  // claimed ids of sessions of other senders
	reached atomic.Pointer[reached]
}

// reached caches the result of [Table.collect] until the next change.
type reached struct {
	changes uint64 // of the table
	labels  []string
}

// join moves the members of the smaller tree to the larger one.
func join(large, small *tree) {
	if len(large.members) < len(small.members) {
		large, small = small, large
	}
	for _, member := range small.members {
		large.take(member)
	}
	large.labels = union(large.labels, small.labels)
	for label, at := range small.added {
		note(&large.added, label, at)
	}
	if len(large.foreign) < len(small.foreign) {
		large.foreign, small.foreign = small.foreign, large.foreign
	}
	maps.Copy(large.foreign, small.foreign)
}

// take appends a member.
func (t *tree) take(n *node) {
	n.tree, n.place = t, len(t.members)
	t.members = append(t.members, n)
}

// follow records a claimed id of sessions of other senders.
func (t *tree) follow(id string) {
	if t.foreign == nil {
		t.foreign = map[string]struct{}{}
	}
	t.foreign[id] = struct{}{}
}

// gain adds the labels of a member.
func (t *tree) gain(r Record) {
	for label, added := range r.Labels {
		note(&t.added, label, added.Time)
	}
	t.labels = union(t.labels, r.names())
}

// remove removes a member and moves the last one to its place.
func (t *tree) remove(n *node) {
	end := len(t.members) - 1
	last := t.members[end]
	t.members[n.place], last.place = last, n.place
	t.members[end] = nil
	t.members = t.members[:end]
}

// lose removes labels that a member lost, unless other members have them.
func (t *tree) lose(labels []string) {
	for _, label := range labels {
		delete(t.added, label)
		for _, member := range t.members {
			if added, ok := member.Labels[label]; ok {
				note(&t.added, label, added.Time)
			}
		}
	}
	t.labels = slices.Sorted(maps.Keys(t.added))
}

// union merges two sorted lists without changing them.
func union(a, b []string) []string {
	switch {
	case len(b) == 0:
		return a
	case len(a) == 0:
		return b
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
