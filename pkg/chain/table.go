package chain

import (
	"maps"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Table is an immutable set of registered hooks, indexed by event and session, so that looking up
// the hooks of an event does not depend on the number of others. [Table.Apply] returns a modified
// table that shares unchanged parts. The zero Table is empty.
type Table struct {
	entries map[string]*Entry
	index   map[slot][]*Entry
}

// slot is a key of the index: a pattern, and the session that it is limited to.
type slot struct {
	session string
	kind    byte // 'e' exact name, 'd' domain, '*' all, 'c' channel
	name    string
}

// Change sets the entry with an id, or removes it if Entry is nil.
type Change struct {
	ID    string
	Entry *Entry
}

// Apply returns the table with the changes applied in order.
func (t *Table) Apply(changes ...Change) *Table {
	next := &Table{entries: maps.Clone(t.entries), index: maps.Clone(t.index)}
	if next.entries == nil {
		next.entries, next.index = map[string]*Entry{}, map[slot][]*Entry{}
	}
	copied := map[slot]bool{}
	for _, c := range changes {
		if old := next.entries[c.ID]; old != nil {
			next.edit(old, copied, func(list []*Entry) []*Entry {
				return slices.DeleteFunc(list, func(l *Entry) bool { return l == old })
			})
			delete(next.entries, c.ID)
		}
		if c.Entry == nil {
			continue
		}
		next.entries[c.ID] = c.Entry
		next.edit(c.Entry, copied, func(list []*Entry) []*Entry {
			at, _ := slices.BinarySearchFunc(list, c.Entry, compare)
			return slices.Insert(list, at, c.Entry)
		})
	}
	return next
}

// edit changes the lists of an entry. It clones each list before the first change.
func (t *Table) edit(entry *Entry, copied map[slot]bool, change func([]*Entry) []*Entry) {
	for _, s := range slots(entry) {
		list := t.index[s]
		if !copied[s] {
			list, copied[s] = slices.Clone(list), true
		}
		if list = change(list); len(list) == 0 {
			delete(t.index, s)
		} else {
			t.index[s] = list
		}
	}
}

// slots returns the distinct slots of an entry.
func slots(entry *Entry) []slot {
	var all []slot
	add := func(s slot) {
		s.session = entry.SessionID
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	for _, c := range entry.Channels {
		add(slot{kind: 'c', name: c})
	}
	for _, p := range entry.Events {
		domain, isDomain := strings.CutSuffix(p, ":*")
		switch {
		case p == "*":
			add(slot{kind: '*'})
		case isDomain:
			add(slot{kind: 'd', name: domain})
		default:
			add(slot{kind: 'e', name: events.Canonical(p)})
		}
	}
	return all
}

// For returns the hooks for an event of a session in execution order, each once: those of this
// session and those without a session whose pattern matches any spelling of the name. Callers must
// not modify the list.
func (t *Table) For(event, session string) []*Entry {
	var list []*Entry
	for _, sid := range [...]string{"", session} {
		list = merge(list, merge(t.naming(event, sid), t.index[slot{sid, '*', ""}]))
		if session == "" {
			break
		}
	}
	return list
}

// Named reports whether a hook for the session names the event or its domain. Hooks for "*" do not
// count.
func (t *Table) Named(event, session string) bool {
	return len(t.naming(event, "")) > 0 || len(t.naming(event, session)) > 0
}

// naming returns the hooks that name the event or its domain and are limited to session sid; empty
// for unlimited hooks.
func (t *Table) naming(event, sid string) []*Entry {
	list := t.index[slot{sid, 'e', events.Canonical(event)}]
	for _, spelling := range events.Spellings(event) {
		for i := range len(spelling) {
			if spelling[i] == ':' {
				list = merge(list, t.index[slot{sid, 'd', spelling[:i]}])
			}
		}
	}
	return list
}

// Channel returns the contributors of a channel in registration order.
func (t *Table) Channel(channel string) []*Entry {
	return t.index[slot{"", 'c', channel}]
}

// merge merges two ordered lists and drops duplicates.
func merge(a, b []*Entry) []*Entry {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	out := make([]*Entry, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] == b[0]:
			out, a, b = append(out, a[0]), a[1:], b[1:]
		case compare(a[0], b[0]) <= 0:
			out, a = append(out, a[0]), a[1:]
		default:
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// Get returns the entry with this id, or nil.
func (t *Table) Get(id string) *Entry { return t.entries[id] }

// Len returns the number of entries.
func (t *Table) Len() int { return len(t.entries) }

// All returns every entry in execution order.
func (t *Table) All() []*Entry {
	return slices.SortedFunc(maps.Values(t.entries), compare)
}

// Handlers returns the names of hooks by the pattern they registered, in execution order. With a
// pattern, it lists only that one. Contributors are not listed.
func (t *Table) Handlers(pattern string) map[string][]string {
	list := map[string][]string{}
	for _, entry := range t.All() {
		for _, p := range slices.Compact(slices.Sorted(slices.Values(entry.Events))) {
			if pattern == "" || p == pattern {
				list[p] = append(list[p], entry.Title())
			}
		}
	}
	return list
}
