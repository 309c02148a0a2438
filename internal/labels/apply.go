package labels

import (
	"slices"
	"time"
)

// Growth returns the number of sessions that a record would add to the table: its own and those
// that it claims.
func (t *Table) Growth(r Record) (sessions int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.nodes[r.Name()] == nil {
		sessions++
	}
	for _, id := range r.Claims {
		if t.nodes[Name(r.Sender, id)] == nil {
			sessions++
		}
	}
	return sessions
}

// Apply sets the record of a session at a revision, unless a newer one is known.
func (t *Table) Apply(r Record, revision uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.nodes[r.Name()]
	if n != nil && revision <= n.revision {
		return
	}
	t.changes++
	if n == nil {
		n = t.add(r.Sender, r.Session)
	}
	lost := without(n.names(), r.names())
	n.Record, n.revision = r, revision
	for _, id := range without(r.Claims, n.claims) {
		t.claim(n, id)
	}
	n.tree.gain(r)
	if len(lost) > 0 {
		n.tree.lose(lost)
		t.recount(r.Sender)
		return
	}
	t.senders[r.Sender].note(r)
}

// without returns the elements of all that are not in known, without duplicates.
func without(all, known []string) (rest []string) {
	for _, s := range all {
		if !slices.Contains(known, s) && !slices.Contains(rest, s) {
			rest = append(rest, s)
		}
	}
	return rest
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

// Drop removes the session of a record that was removed from the store and is past its [Retention].
// A record that somebody deleted by hand stays in effect until then. Sessions that only this record
// claimed are removed too. If others claim the session itself, it stays without a record. The tree
// keeps its labels while it has other members.
func (t *Table) Drop(key string, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.nodes[t.names[key]]
	if n == nil || n.revision == 0 || now.Sub(n.Time) < Retention-time.Hour {
		return
	}
	t.changes++
	for _, id := range n.claims {
		above := t.nodes[Name(n.Sender, id)]
		above.claimed--
		t.tidy(above)
	}
	n.Record, n.revision, n.claims = Record{Session: n.Session, Sender: n.Sender}, 0, nil
	t.tidy(n)
}

// add adds a session in a new tree.
func (t *Table) add(who, session string) *node {
	n := &node{Record: Record{Session: session, Sender: who}}
	n.tree = &tree{members: []*node{n}}
	if t.senders[who] == nil {
		t.senders[who] = &sender{}
	}
	t.senders[who].sessions++
	t.nodes[n.Name()], t.names[Key(n.Name())] = n, n.Name()
	if session == "" {
		return n
	}
	t.byID[session] = append(t.byID[session], n)
	for _, other := range t.byID[session] {
		if other.claimed > 0 {
			other.tree.follow(session)
		}
	}
	return n
}

// tidy removes a session that has no record and is not claimed.
func (t *Table) tidy(n *node) {
	if n.revision > 0 || n.claimed > 0 {
		return
	}
	name := n.Name()
	delete(t.nodes, name)
	delete(t.names, Key(name))
	if s := t.senders[n.Sender]; s.sessions > 1 {
		s.sessions--
	} else {
		delete(t.senders, n.Sender)
	}
	same := func(other *node) bool { return other == n }
	if t.byID[n.Session] = slices.DeleteFunc(t.byID[n.Session], same); len(t.byID[n.Session]) == 0 {
		delete(t.byID, n.Session)
	}
	n.tree.remove(n)
}

// claim joins a session's tree to that of the claimed session. It creates an unknown session of
// the same sender.
func (t *Table) claim(n *node, id string) {
	above := t.nodes[Name(n.Sender, id)]
	if above == nil {
		above = t.add(n.Sender, id)
	}
	n.claims = append(n.claims, id)
	above.claimed++
	if len(t.byID[id]) > 1 {
		n.tree.follow(id)
	}
	if above.tree != n.tree {
		join(n.tree, above.tree)
	}
}
