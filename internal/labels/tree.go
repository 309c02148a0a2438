package labels

import (
	"maps"
	"slices"
)

// tree is a set of sessions joined by claims.
type tree struct {
	members []*node
	labels  []string            // of all members, sorted
	foreign map[string]struct{} // claimed ids that sessions of other senders have
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
	if len(large.foreign) < len(small.foreign) {
		large.foreign, small.foreign = small.foreign, large.foreign
	}
	maps.Copy(large.foreign, small.foreign)
}

// take makes a session the last member.
func (t *tree) take(n *node) {
	n.tree, n.place = t, len(t.members)
	t.members = append(t.members, n)
}

// follow notes a claimed id that sessions of other senders have.
func (t *tree) follow(id string) {
	if t.foreign == nil {
		t.foreign = map[string]struct{}{}
	}
	t.foreign[id] = struct{}{}
}

// remove removes a member; the last one takes its place.
func (t *tree) remove(n *node) {
	end := len(t.members) - 1
	last := t.members[end]
	t.members[n.place], last.place = last, n.place
	t.members[end] = nil
	t.members = t.members[:end]
}

// lose removes those of labels that no member has.
func (t *tree) lose(labels []string) {
	t.labels = slices.DeleteFunc(slices.Clone(t.labels), func(label string) bool {
		return slices.Contains(labels, label) && !slices.ContainsFunc(t.members, func(n *node) bool { return n.has(label) })
	})
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
