package labels

import "time"

// sender aggregates the labels of all sessions of one sender.
type sender struct {
	sessions int
	added    map[string]time.Time // when each label was last added
	asked    map[string]time.Time // when a person was last asked to remove it
}

// note records when the labels of a record were added and asked about.
func (s *sender) note(r Record) {
	for label, added := range r.Labels {
		note(&s.added, label, added.Time)
	}
	for label, asked := range r.Asked {
		note(&s.asked, label, asked)
	}
}

// recount recomputes when the labels of a sender's sessions were added.
func (t *Table) recount(who string) {
	s := t.senders[who]
	s.added = nil
	for _, n := range t.nodes {
		if n.Sender == who {
			s.note(n.Record)
		}
	}
}
