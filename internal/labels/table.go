package labels

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"
)

// Retention is how long a record is kept after its last write.
const Retention = 30 * 24 * time.Hour

// Options configure a table. The zero value of each field is its default.
type Options struct {
	// Memory is how long a label of one session holds for all sessions of the same proven
	// sender; 0 means an hour, a negative value disables it.
	Memory time.Duration
}

// DefaultMemory is the default of [Options.Memory].
const DefaultMemory = time.Hour

// Table is what one replica knows. It is safe for concurrent use. Make one with [New].
type Table struct {
	memory time.Duration

	mu      sync.RWMutex // guards what follows
	nodes   map[string]*node
	byID    map[string][]*node              // by session id
	senders map[string]map[string]time.Time // when each label was last added, by proven sender
	owned   map[string]int                  // number of sessions, by sender
	names   map[string]string               // names by record key
}

// node is one session.
type node struct {
	Record
	revision uint64
	tree     *tree
}

// tree is a set of sessions joined by claims.
type tree struct {
	members []*node
	labels  []string // of all members, sorted
	foreign []string // claimed ids that may belong to other senders
}

// New makes an empty table.
func New(o Options) *Table {
	return &Table{
		memory: cmp.Or(o.Memory, DefaultMemory),
		nodes:  map[string]*node{}, byID: map[string][]*node{}, senders: map[string]map[string]time.Time{}, owned: map[string]int{}, names: map[string]string{},
	}
}

// Len is the number of known sessions.
func (t *Table) Len() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.nodes)
}

// LenOf is the number of known sessions of a sender.
func (t *Table) LenOf(sender string) int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.owned[sender]
}

// Of returns the labels of a session, sorted; nil for none. Without labels it costs two map
// lookups. Callers must not change the slice.
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
		all, cleared = t.collect(n.tree), n.Cleared
	}
	for label, at := range seen {
		if now.Sub(at) < t.memory && at.After(cleared[label]) {
			own = append(own, label)
		}
	}
	slices.Sort(own)
	return union(all, own)
}

// collect returns the labels of a tree and of the foreign sessions that its members claim, and so
// on. It looks at each tree once: agents choose the claims, and with them how many ways lead there.
func (t *Table) collect(from *tree) []string {
	all := from.labels
	if len(from.foreign) == 0 {
		return all
	}
	seen := map[*tree]bool{from: true}
	for next := []*tree{from}; len(next) > 0; next = next[1:] {
		for _, id := range next[0].foreign {
			for _, other := range t.byID[id] {
				if !seen[other.tree] {
					seen[other.tree] = true
					all = union(all, other.tree.labels)
					next = append(next, other.tree)
				}
			}
		}
	}
	return all
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

// Get returns the record of a session and its revision; 0 if there is none.
func (t *Table) Get(name string) (Record, uint64) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if n := t.nodes[name]; n != nil {
		return n.Record, n.revision
	}
	sender, session := Split(name)
	return Record{Sender: sender, Session: session}, 0
}

// Missing returns those of labels that must still be stored: the session's tree lacks them, or
// they hold for less than half of the memory for the sender's other sessions.
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

// fades reports whether more than half of a label's memory for a sender is over.
func (t *Table) fades(sender, label string, now time.Time) bool {
	return sender != "" && t.memory > 0 && now.Sub(t.senders[sender][label]) > t.memory/2
}

// Having returns the session and the sessions of its tree whose records have one of the labels.
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

// Newest is the newest revision among the records of a session's tree.
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

// Apply sets the record of a key at a revision.
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

// Old returns the keys and revisions of the records past their [Retention].
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

// Drop forgets the session of a record that was removed from the store, if it is past its
// [Retention]: a record that somebody deleted by hand stays in force until then. The tree keeps
// its labels while another member exists.
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

// claim joins a session's tree to that of the claimed session. It creates an unknown session of
// the same sender.
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

// sum recomputes the labels of a tree from its members.
func (t *tree) sum() {
	all := map[string]bool{}
	for _, member := range t.members {
		for label := range member.Labels {
			all[label] = true
		}
	}
	t.labels = slices.Sorted(maps.Keys(all))
}

// sight notes when the labels of a proven sender's session were added.
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

// resight recomputes sight for all sessions of a sender.
func (t *Table) resight(sender string) {
	delete(t.senders, sender)
	for _, n := range t.nodes {
		if n.Sender == sender {
			t.sight(n)
		}
	}
}
