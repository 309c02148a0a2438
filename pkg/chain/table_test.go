package chain

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// entry is an entry for these patterns; its order is the number in its id: "a3".
func entry(id string, priority int, session string, patterns ...string) *Entry {
	var order uint64
	if _, err := fmt.Sscanf(id[1:], "%d", &order); err != nil {
		panic(err)
	}
	return &Entry{Registration: Registration{ID: id, Priority: priority, SessionID: session, Events: patterns}, Order: order}
}

func tableOf(entries ...*Entry) *Table {
	table := &Table{}
	for _, l := range entries {
		table = table.Apply(Change{l.ID, l})
	}
	return table
}

func ids(entries []*Entry) []string {
	list := make([]string, 0, len(entries))
	for _, l := range entries {
		list = append(list, l.ID)
	}
	return list
}

func TestFor(t *testing.T) {
	for sentence, c := range map[string]struct {
		entries        []*Entry
		event, session string
		want           []string
	}{
		"nothing registered":            {nil, "tool:pre", "", []string{}},
		"an exact name":                 {[]*Entry{entry("a1", 0, "", "tool:pre"), entry("b2", 0, "", "tool:post")}, "tool:pre", "", []string{"a1"}},
		"a domain":                      {[]*Entry{entry("a1", 0, "", "tool:*"), entry("b2", 0, "", "tools:*")}, "tool:pre", "", []string{"a1"}},
		"a domain is not its own event": {[]*Entry{entry("a1", 0, "", "tool:*")}, "tool", "", []string{}},
		"a domain of two parts":         {[]*Entry{entry("a1", 0, "", "a:b:*"), entry("b2", 0, "", "a:*"), entry("c3", 0, "", "a:c:*")}, "a:b:c", "", []string{"a1", "b2"}},
		"everything":                    {[]*Entry{entry("a1", 0, "", "*")}, "my:own", "", []string{"a1"}},
		"exact names and patterns are mixed by priority, then by registration": {
			[]*Entry{
				entry("a1", 5, "", "tool:pre"), entry("b2", 0, "", "*"), entry("c3", -1, "", "tool:*"), entry("d4", 0, "", "tool:pre"),
				entry("e5", 5, "", "*"), entry("f6", 0, "", "tool:*"),
			}, "tool:pre", "", []string{"c3", "b2", "d4", "f6", "a1", "e5"},
		},
		"a hook that several of its patterns match, once": {
			[]*Entry{entry("a1", 0, "", "tool:pre", "tool:*", "*", "tool:pre"), entry("b2", 0, "", "*", "tool:pre")}, "tool:pre", "", []string{"a1", "b2"},
		},
		"an alias by the canonical name":          {[]*Entry{entry("a1", 0, "", "error:tool")}, "tool:error", "", []string{"a1"}},
		"the canonical name by an alias":          {[]*Entry{entry("a1", 0, "", "tool:error")}, "error:tool", "", []string{"a1"}},
		"both spellings, once":                    {[]*Entry{entry("a1", 0, "", "tool:error", "error:tool", "error:*", "tool:*")}, "error:tool", "", []string{"a1"}},
		"a domain by either spelling":             {[]*Entry{entry("a1", 0, "", "error:*"), entry("b2", 0, "", "tool:*")}, "tool:error", "", []string{"a1", "b2"}},
		"another alias":                           {[]*Entry{entry("a1", 0, "", "context:pre-compact")}, "context:pre_compact", "", []string{"a1"}},
		"a session's hook for its session":        {[]*Entry{entry("a1", 0, "s1", "*"), entry("b2", 0, "", "*")}, "tool:pre", "s1", []string{"a1", "b2"}},
		"a session's hook for another session":    {[]*Entry{entry("a1", 0, "s1", "*"), entry("b2", 0, "", "*")}, "tool:pre", "s2", []string{"b2"}},
		"a session's hook for none":               {[]*Entry{entry("a1", 0, "s1", "*"), entry("b2", 0, "", "*")}, "tool:pre", "", []string{"b2"}},
		"a session's hook takes its place by all": {[]*Entry{entry("a1", 0, "", "*"), entry("b2", -1, "s1", "tool:pre"), entry("c3", 0, "s1", "tool:*")}, "tool:pre", "s1", []string{"b2", "a1", "c3"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(c.want, ids(tableOf(c.entries...).For(c.event, c.session))); diff != "" {
				t.Errorf("hooks (-want +got):\n%s", diff)
			}
		})
	}
}

func TestApplyLeavesTheOldTableAlone(t *testing.T) {
	old := tableOf(entry("a1", 0, "", "tool:pre"), entry("b2", 0, "", "tool:pre", "*"), entry("c3", 0, "", "tool:*"))
	list, all := old.For("tool:pre", ""), old.All()
	next := old.Apply(
		Change{ID: "a1"}, Change{"b2", entry("b2", -5, "", "tool:post")}, Change{"d4", entry("d4", -9, "", "tool:pre", "tool:*", "*")},
	)
	want := []string{"a1", "b2", "c3"}
	for _, got := range [][]string{ids(list), ids(all), ids(old.For("tool:pre", "")), ids(old.All())} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the old table (-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff([]string{"d4", "c3"}, ids(next.For("tool:pre", ""))); diff != "" {
		t.Errorf("the new table (-want +got):\n%s", diff)
	}
	if old.Len() != 3 || next.Len() != 3 || old.Get("d4") != nil || next.Get("a1") != nil || old.Get("a1") == nil {
		t.Errorf("lengths %d and %d", old.Len(), next.Len())
	}
}

func TestReplacingKeepsThePlace(t *testing.T) {
	table := tableOf(entry("a1", 0, "", "*"), entry("b2", 0, "", "*"), entry("c3", 0, "", "*"))
	same := table.Apply(Change{"b2", entry("b2", 0, "", "tool:*")})
	if diff := cmp.Diff([]string{"a1", "b2", "c3"}, ids(same.For("tool:pre", ""))); diff != "" {
		t.Errorf("other patterns (-want +got):\n%s", diff)
	}
	first := table.Apply(Change{"b2", entry("b2", -1, "", "*")})
	if diff := cmp.Diff([]string{"b2", "a1", "c3"}, ids(first.For("tool:pre", ""))); diff != "" {
		t.Errorf("another priority (-want +got):\n%s", diff)
	}
	late := entry("b2", 0, "", "*")
	late.Order = 9
	last := table.Apply(Change{ID: "b2"}, Change{"b2", late})
	if diff := cmp.Diff([]string{"a1", "c3", "b2"}, ids(last.For("tool:pre", ""))); diff != "" {
		t.Errorf("removed and registered anew (-want +got):\n%s", diff)
	}
}

func TestApplyOfNothing(t *testing.T) {
	table := (&Table{}).Apply(Change{ID: "x"}, Change{ID: "x"})
	if table.Len() != 0 || table.Get("x") != nil || len(table.All()) != 0 || len(table.For("tool:pre", "s")) != 0 {
		t.Errorf("table %+v", table)
	}
	if n := len(table.index); n != 0 {
		t.Errorf("%d empty places are kept", n)
	}
	table = tableOf(entry("a1", 0, "", "*")).Apply(Change{ID: "a1"})
	if n := len(table.index); n != 0 {
		t.Errorf("%d empty places are kept", n)
	}
}

func TestChannelsAreInOrderOfRegistration(t *testing.T) {
	contributor := func(id string, channels ...string) *Entry {
		l := entry(id, 0, "")
		l.Channels = channels
		return l
	}
	table := tableOf(contributor("b2", "a.b", "c"), contributor("a1", "a.b"), contributor("c3", "c", "c"), entry("d4", 0, "", "*"))
	for channel, want := range map[string][]string{"a.b": {"a1", "b2"}, "c": {"b2", "c3"}, "a": {}, "*": {}} {
		if diff := cmp.Diff(want, ids(table.Channel(channel))); diff != "" {
			t.Errorf("channel %s (-want +got):\n%s", channel, diff)
		}
	}
	if diff := cmp.Diff([]string{"d4"}, ids(table.For("a:b", ""))); diff != "" {
		t.Errorf("hooks of an event (-want +got):\n%s", diff)
	}
}

func TestHandlers(t *testing.T) {
	named := entry("c3", -1, "s1", "error:tool", "*")
	named.Name = "Linter"
	twin := entry("d4", 0, "", "tool:pre", "tool:pre")
	twin.Name = "Linter"
	contributor := entry("e5", 0, "")
	contributor.Channels = []string{"a.b"}
	table := tableOf(entry("a1", 0, "", "tool:pre", "tool:*"), entry("b2", -5, "", "tool:pre"), named, twin, contributor)
	for pattern, want := range map[string]map[string][]string{
		"":           {"tool:pre": {"b2", "a1", "Linter"}, "tool:*": {"a1"}, "error:tool": {"Linter"}, "*": {"Linter"}},
		"tool:pre":   {"tool:pre": {"b2", "a1", "Linter"}},
		"tool:*":     {"tool:*": {"a1"}},
		"tool:error": {},
		"error:tool": {"error:tool": {"Linter"}},
	} {
		if diff := cmp.Diff(want, table.Handlers(pattern)); diff != "" {
			t.Errorf("handlers of %q (-want +got):\n%s", pattern, diff)
		}
	}
}

// naive is a table without an index.
type naive map[string]*Entry

func (n naive) lookup(event, session string) []string {
	var list []*Entry
	for _, l := range n {
		wanted := slices.ContainsFunc(l.Events, func(p string) bool { return events.Match(p, event) })
		if wanted && (l.SessionID == "" || l.SessionID == session) {
			list = append(list, l)
		}
	}
	slices.SortFunc(list, compare)
	return ids(list)
}

func TestTableDoesWhatANaiveOneDoes(t *testing.T) {
	rounds := 2000
	if testing.Short() {
		rounds = 200
	}
	const seed = 20260102
	random := rand.New(rand.NewPCG(seed, seed))
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	names := []string{"tool:pre", "tool:error", "error:tool", "tool", "a", "a:b", "a:b:c", "b:c", "execution:end", "execution:complete", "error:other"}
	patterns := append(slices.Clone(names), "*", "tool:*", "error:*", "a:*", "a:b:*", "execution:*")
	sessions := []string{"", "", "s1", "s2"}

	table, model := &Table{}, naive{}
	for round := range rounds {
		var changes []Change
		for range 1 + random.IntN(4) {
			id := fmt.Sprintf("h%d", random.IntN(12))
			c := Change{ID: id}
			if random.IntN(3) > 0 {
				c.Entry = &Entry{Order: uint64(round*8 + len(changes)), Registration: Registration{
					ID: id, Priority: random.IntN(3) - 1, SessionID: pick(sessions...),
				}}
				if old := model[id]; old != nil && random.IntN(2) == 0 {
					c.Entry.Order = old.Order
				}
				for range 1 + random.IntN(3) {
					c.Entry.Events = append(c.Entry.Events, pick(patterns...))
				}
				model[id] = c.Entry
			} else {
				delete(model, id)
			}
			changes = append(changes, c)
		}
		old := table
		lists := map[string][]string{}
		for _, name := range names {
			lists[name] = ids(old.For(name, "s1"))
		}
		table = table.Apply(changes...)
		for _, name := range names {
			if got := ids(old.For(name, "s1")); !slices.Equal(got, lists[name]) {
				t.Fatalf("seed %d, round %d: Apply changed the old table: %s gave %q, now %q", seed, round, name, lists[name], got)
			}
			for _, session := range []string{"", "s1", "s2", "s3"} {
				got, want := ids(table.For(name, session)), model.lookup(name, session)
				if !slices.Equal(got, want) {
					t.Fatalf("seed %d, round %d: %s in session %q gives %q, want %q", seed, round, name, session, got, want)
				}
			}
		}
		if table.Len() != len(model) || len(table.All()) != len(model) || !slices.IsSortedFunc(table.All(), compare) {
			t.Fatalf("seed %d, round %d: %d entries, want %d", seed, round, table.Len(), len(model))
		}
	}
	t.Logf("volume: %d rounds, seed %d", rounds, seed)
}
