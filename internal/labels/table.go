package labels

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Retention is how long a record is kept after its last write.
const Retention = 30 * 24 * time.Hour

// Options configure a table. Zero fields mean defaults.
type Options struct {
	// Memory is how long a label of one session applies to all sessions of the same proven sender, from
	// when it was last added; an eighth more where an addition was too recent to be stored. 0 means an
	// hour, a negative value disables it.
	Memory time.Duration
}

// DefaultMemory is the default of [Options.Memory].
const DefaultMemory = time.Hour

// renewals is how often a label that is added again and again is stored during [Options.Memory].
const renewals = 8

// Table is one replica's copy of all records. It is safe for concurrent use. Use [New].
type Table struct {
	memory time.Duration

	mu      sync.RWMutex // guards the fields below
	nodes   map[string]*node
	byID    map[string][]*node // by session id
	senders map[string]*sender
	names   map[string]string // names by record key
	changes uint64            // number of changes to nodes, byID, senders and names
}

// node is a session that has a record, is claimed by others, or both.
type node struct {
	Record
	revision uint64   // 0 if there is no record
	claims   []string // of its record
	claimed  int      // number of sessions that claim this one
	tree     *tree
	place    int // index in the members of the tree
}

// New returns an empty table.
func New(o Options) *Table {
	t := &Table{memory: cmp.Or(o.Memory, DefaultMemory)}
	t.Clear()
	return t
}

// Clear removes all records.
func (t *Table) Clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.nodes, t.byID, t.senders, t.names = map[string]*node{}, map[string][]*node{}, map[string]*sender{}, map[string]string{}
	t.changes++
}

// Len returns the number of known sessions.
func (t *Table) Len() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.nodes)
}

// LenOf returns the number of known sessions of a sender.
func (t *Table) LenOf(sender string) int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if s := t.senders[sender]; s != nil {
		return s.sessions
	}
	return 0
}

// Of returns the labels of a session, sorted, or nil. Without labels it costs two map lookups.
// Callers must not modify the result.
func (t *Table) Of(name string, now time.Time) []string {
	who, _ := Split(name)
	t.mu.RLock()
	defer t.mu.RUnlock()
	n, s := t.nodes[name], t.senders[who]
	if s == nil {
		return nil
	}
	var all, own []string
	var cleared map[string]time.Time
	if n != nil {
		all, cleared = t.collect(n.tree), n.Cleared
	}
	if who != "" && t.memory > 0 {
		for label, at := range s.added {
			if now.Sub(at) < t.memory+t.memory/renewals && at.After(cleared[label]) {
				own = append(own, label)
			}
		}
	}
	slices.Sort(own)
	return union(all, own)
}

// collect returns the labels of a tree and, transitively, of the foreign sessions that its members
// claim. It visits each tree once and caches the result until the next change, since agents choose
// the claims and with them the number of paths.
func (t *Table) collect(from *tree) []string {
	all := from.labels
	if len(from.foreign) == 0 {
		return all
	}
	if known := from.reached.Load(); known != nil && known.changes == t.changes {
		return known.labels
	}
	seen := map[*tree]bool{from: true}
	for next := []*tree{from}; len(next) > 0; next = next[1:] {
		for id := range next[0].foreign {
			for _, other := range t.byID[id] {
				if !seen[other.tree] {
					seen[other.tree] = true
					all = union(all, other.tree.labels)
					next = append(next, other.tree)
				}
			}
		}
	}
	from.reached.Store(&reached{t.changes, all})
	return all
}

// Get returns the record of a session and its revision, which is 0 if there is no record.
func (t *Table) Get(name string) (Record, uint64) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if n := t.nodes[name]; n != nil {
		return n.Record, n.revision
	}
	sender, session := Split(name)
	return Record{Sender: sender, Session: session}, 0
}

// Senders returns the senders of the sessions with an id that have a record or are claimed; empty
// for unproven ones.
func (t *Table) Senders(id string) (senders []string) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, n := range t.byID[id] {
		senders = append(senders, n.Sender)
	}
	slices.Sort(senders)
	return senders
}

// Having returns the session itself, and the sessions of its tree whose records have one of the
// labels.
func (t *Table) Having(name string, labels []string) (names []string) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n := t.nodes[name]
	if n == nil {
		return []string{name}
	}
	for _, member := range n.tree.members {
		if member == n || slices.ContainsFunc(labels, member.has) {
			names = append(names, member.Name())
		}
	}
	return names
}

// Newest returns the newest revision of the records in a session's tree.
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
