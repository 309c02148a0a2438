package labels

import (
	"slices"
	"time"
)

// Missing returns the labels that must be stored: the session's tree lacks them, more than half of
// their [Retention] or an eighth of the sender's memory has passed, or a person was asked to remove
// them from one of the sender's sessions after the tree got them.
func (t *Table) Missing(name string, labels []string, now time.Time) (missing []string) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n := t.nodes[name]
	for _, label := range labels {
		switch {
		case n == nil, !slices.Contains(n.tree.labels, label), now.Sub(n.tree.added[label]) > Retention/2, t.fades(n.Sender, label, now), t.asked(n, label):
			missing = append(missing, label)
		}
	}
	return missing
}

// fades reports whether so much of the sender's memory of a label has passed that it must be renewed.
func (t *Table) fades(sender, label string, now time.Time) bool {
	return sender != "" && t.memory > 0 && now.Sub(t.senders[sender].added[label]) > t.memory/renewals
}

// asked reports whether a person was asked to remove a label since the session's tree got it.
func (t *Table) asked(n *node, label string) bool {
	at, ok := t.senders[n.Sender].asked[label]
	return ok && !n.tree.added[label].After(at)
}

// After returns a time for a write about labels of a session: now, or just after the last time that
// the sender's sessions got one of them or a person was asked to remove one. This orders both even
// if the clocks of replicas differ.
func (t *Table) After(name string, labels []string, now time.Time) time.Time {
	who, _ := Split(name)
	t.mu.RLock()
	defer t.mu.RUnlock()
	s := t.senders[who]
	if s == nil {
		return now
	}
	for _, label := range labels {
		for _, last := range [...]time.Time{s.added[label], s.asked[label]} {
			if !last.IsZero() {
				now = later(now, last.Add(1))
			}
		}
	}
	return now
}

// Again returns the labels that the session's tree got after a person was asked to remove them.
func (t *Table) Again(name string, labels []string, asked time.Time) (again []string) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n := t.nodes[name]
	for _, label := range labels {
		if n != nil && n.tree.added[label].After(asked) {
			again = append(again, label)
		}
	}
	return again
}

// Merging returns the labels that a person was asked to remove and that several of the trees that a
// record is about to join have. They count as added again: an answer about one tree must not remove
// labels of another one.
func (t *Table) Merging(r Record) (both []string) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var trees []*tree
	for _, id := range append([]string{r.Session}, r.Claims...) {
		if n := t.nodes[Name(r.Sender, id)]; n != nil && !slices.Contains(trees, n.tree) {
			trees = append(trees, n.tree)
		}
	}
	s := t.senders[r.Sender]
	if s == nil || len(trees) < 2 {
		return nil
	}
	for label := range s.asked {
		having := 0
		for _, one := range trees {
			if slices.Contains(one.labels, label) {
				having++
			}
		}
		if having > 1 {
			both = append(both, label)
		}
	}
	return both
}
