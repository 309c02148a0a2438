package labels

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"
)

// Retention is how long a record is kept after it was written last.
const Retention = 30 * 24 * time.Hour

// Options configure a table. The zero value of each field is its default.
type Options struct {
	// Memory is how long a label that was added to a session of a proven sender holds for
	// all sessions of that sender; 0 means an hour, less than 0 not at all.
	Memory time.Duration
}

// DefaultMemory is [Options.Memory] where it is not given.
const DefaultMemory = time.Hour

// Table is what one replica knows. It is safe for concurrent use; the zero Table is not
// usable.
type Table struct {
	memory time.Duration

	mu      sync.RWMutex // guards what follows
	nodes   map[string]*node
	byID    map[string][]*node              // by the id of the session
	senders map[string]map[string]time.Time // when each label was added last, by proven sender
	owned   map[string]int                  // sessions, by sender
	names   map[string]string               // by the key of the record
}

// node is one session.
type node struct {
	Record
	revision uint64
	tree     *tree
}

// tree is the sessions that claims joined.
type tree struct {
	members []*node
	labels  []string // of all members, in order
	foreign []string // ids that members claim and that may be sessions of other senders
}

// New makes an empty table.
func New(o Options) *Table {
	return &Table{
		memory: cmp.Or(o.Memory, DefaultMemory),
		nodes:  map[string]*node{}, byID: map[string][]*node{}, senders: map[string]map[string]time.Time{}, owned: map[string]int{}, names: map[string]string{},
	}
}

// Len is how many sessions are known.
func (t *Table) Len() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.nodes)
}

// LenOf is how many sessions of a sender are known.
func (t *Table) LenOf(sender string) int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.owned[sender]
}

// Of are the labels that hold for a session, in order; nil for none. For one that has none
// it is a look at two maps. The list must not be changed.
func (t *Table) Of(name string, now time.Time) []string {
	sender, _ := Split(name)
	t.mu.RLock()
	defer t.mu.RUnlock()
	if len(t.nodes) == 0 {
		return nil
	}
	n, seen := t.nodes[name], t.senders[sender]
	if n == nil && len(seen) == 0 {
		return nil
	}
	var all, own []string
	var cleared map[string]time.Time
	if n != nil {
		all, cleared = t.collect(n.tree, nil), n.Cleared
	}
	for label, at := range seen {
		if now.Sub(at) < t.memory && at.After(cleared[label]) {
			own = append(own, label)
		}
	}
	slices.Sort(own)
	return union(all, own)
}

// collect are the labels of a tree and of those that its members claim to be below.
func (t *Table) collect(from *tree, visited []*tree) []string {
	all := from.labels
	visited = append(visited, from)
	for _, id := range from.foreign {
		for _, other := range t.byID[id] {
			if !slices.Contains(visited, other.tree) {
				visited = append(visited, other.tree)
				all = union(all, t.collect(other.tree, visited))
			}
		}
	}
	return all
}

// union is both lists, which are in order, as one; neither is changed.
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

// Get returns the record of a session and its revision; 0 for none.
func (t *Table) Get(name string) (Record, uint64) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if n := t.nodes[name]; n != nil {
		return n.Record, n.revision
	}
	sender, session := Split(name)
	return Record{Sender: sender, Session: session}, 0
}

// Missing are those of labels that a session has to be given: its tree does not have them, or
// they hold for the other sessions of its sender for less than half of the time yet.
func (t *Table) Missing(name string, labels []string, now time.Time) (missing []string) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n := t.nodes[name]
	for _, label := range labels {
		switch {
		case n == nil, !slices.Contains(n.tree.labels, label), t.fades(n.Sender, label, now):
			missing = append(missing, label)
		}
	}
	return missing
}

// fades reports whether half of the time is over for which a label holds for all sessions
// of a sender.
func (t *Table) fades(sender, label string, now time.Time) bool {
	return sender != "" && t.memory > 0 && now.Sub(t.senders[sender][label]) > t.memory/2
}

// Having are the names of the sessions in the tree of a session whose records have one of
// the labels, and of the session itself.
func (t *Table) Having(name string, labels []string) (names []string) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n := t.nodes[name]
	if n == nil {
		return []string{name}
	}
	for _, member := range n.tree.members {
		if member == n || slices.ContainsFunc(labels, func(label string) bool { _, ok := member.Labels[label]; return ok }) {
			names = append(names, member.Name())
		}
	}
	return names
}

// Newest is the newest revision of a record in the tree of a session.
func (t *Table) Newest(name string) (revision uint64) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if n := t.nodes[name]; n != nil {
		for _, member := range n.tree.members {
			revision = max(revision, member.revision)
		}
	}
	return revision
}

// Apply sets the record that a key of the store holds at a revision.
func (t *Table) Apply(r Record, revision uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.nodes[r.Name()]
	if n != nil && revision <= n.revision {
		return
	}
	if n == nil {
		n = &node{Record: Record{Session: r.Session, Sender: r.Sender}}
		t.add(n)
	}
	was := n.Labels
	n.Record, n.revision = r, revision
	for _, claim := range r.Claims {
		t.claim(n, claim)
	}
	for label := range was {
		if _, still := r.Labels[label]; !still {
			n.tree.sum()
			t.resight(r.Sender)
			return
		}
	}
	n.tree.labels = union(n.tree.labels, r.has())
	t.sight(n)
}

// Old are the keys and the revisions of the records that nobody wrote for [Retention].
func (t *Table) Old(now time.Time) map[string]uint64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	old := map[string]uint64{}
	for key, name := range t.names {
		if n := t.nodes[name]; n != nil && n.revision > 0 && now.Sub(n.Time) > Retention {
			old[key] = n.revision
		}
	}
	return old
}

// Drop forgets the session whose record with a key was removed from the store, if it is
// older than [Retention]: what somebody removed by hand holds until then. Its tree keeps what
// it has seen while another member is there.
func (t *Table) Drop(key string, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.nodes[t.names[key]]
	if n == nil || now.Sub(n.Time) < Retention-time.Hour {
		return
	}
	delete(t.nodes, n.Name())
	delete(t.names, key)
	if t.owned[n.Sender]--; t.owned[n.Sender] == 0 {
		delete(t.owned, n.Sender)
	}
	same := func(other *node) bool { return other == n }
	if t.byID[n.Session] = slices.DeleteFunc(t.byID[n.Session], same); len(t.byID[n.Session]) == 0 {
		delete(t.byID, n.Session)
	}
}

func (t *Table) add(n *node) {
	n.tree = &tree{members: []*node{n}}
	t.owned[n.Sender]++
	t.nodes[n.Name()], t.names[Key(n.Name())] = n, n.Name()
	if n.Session != "" {
		t.byID[n.Session] = append(t.byID[n.Session], n)
	}
}

// claim joins the tree of a session to that of the session it says it is below. One of the
// same sender that is not known yet is made.
func (t *Table) claim(n *node, id string) {
	above := t.nodes[Name(n.Sender, id)]
	if above == nil {
		above = &node{Record: Record{Session: id, Sender: n.Sender}}
		t.add(above)
	}
	if !slices.Contains(n.tree.foreign, id) {
		n.tree.foreign = append(n.tree.foreign, id)
	}
	if above.tree == n.tree {
		return
	}
	large, small := n.tree, above.tree
	if len(large.members) < len(small.members) {
		large, small = small, large
	}
	for _, member := range small.members {
		member.tree = large
	}
	large.members = append(large.members, small.members...)
	large.labels = union(large.labels, small.labels)
	large.foreign = union(slices.Sorted(slices.Values(large.foreign)), slices.Sorted(slices.Values(small.foreign)))
}

// sum adds up what the members have seen.
func (t *tree) sum() {
	all := map[string]bool{}
	for _, member := range t.members {
		for label := range member.Labels {
			all[label] = true
		}
	}
	t.labels = slices.Sorted(maps.Keys(all))
}

// sight notes when the labels of a session of a proven sender were added.
func (t *Table) sight(n *node) {
	if n.Sender == "" || t.memory <= 0 {
		return
	}
	seen := t.senders[n.Sender]
	for label, added := range n.Labels {
		if seen == nil {
			seen = map[string]time.Time{}
			t.senders[n.Sender] = seen
		}
		if added.Time.After(seen[label]) {
			seen[label] = added.Time
		}
	}
}

// resight is sight for all sessions of a sender, from nothing.
func (t *Table) resight(sender string) {
	delete(t.senders, sender)
	for _, n := range t.nodes {
		if n.Sender == sender {
			t.sight(n)
		}
	}
}
