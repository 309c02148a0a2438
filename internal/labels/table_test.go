package labels_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/labels"
)

var (
	now   = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	coder = "nats agent/coder"
	rival = "nats agent/rival"
)

// bench is a table with a log: each record that is set gets the next revision.
type bench struct {
	*labels.Table
	revision uint64
}

func newBench() *bench { return &bench{Table: labels.New(labels.Options{})} }

func (b *bench) set(r labels.Record) {
	b.revision++
	b.Apply(r, b.revision)
}

// see adds labels to a session.
func (b *bench) see(sender, session string, at time.Time, added ...string) {
	r, _ := b.Get(labels.Name(sender, session))
	b.set(r.With("hook", at, added...))
}

// below makes a session claim other sessions as its parents.
func (b *bench) below(sender, session string, above ...string) {
	r, _ := b.Get(labels.Name(sender, session))
	r.Claims = append(slices.Clone(r.Claims), above...)
	b.set(r)
}

func (b *bench) want(t *testing.T, sender, session string, at time.Time, want ...string) {
	t.Helper()
	if got := b.Of(labels.Name(sender, session), at); !slices.Equal(got, want) {
		t.Errorf("session %q of %q has %q, want %q", session, sender, got, want)
	}
}

// TestManyWaysToATree checks two senders whose sessions claim each other in a ladder, which makes
// 2⁴⁰ paths. It fails by the timeout of the test.
func TestManyWaysToATree(t *testing.T) {
	t.Parallel()
	b := newBench()
	const steps = 40
	for i := range steps {
		id := func(name string, i int) string { return fmt.Sprint(name, i) }
		b.below(coder, id("rung", i), id("left", i), id("right", i))
		b.below(rival, id("left", i), id("left-end", i))
		b.below(rival, id("right", i), id("right-end", i))
		b.below(coder, id("left-end", i), id("rung", i+1))
		b.below(coder, id("right-end", i), id("rung", i+1))
	}
	b.see(coder, fmt.Sprint("rung", steps), now, "secret")
	b.below("", "child", "rung0")
	b.want(t, "", "child", now, "secret")
}

func TestWhatATreeHasSeen(t *testing.T) {
	t.Parallel()
	b := newBench()
	b.want(t, "", "s", now)
	b.see("", "child", now, "secret")
	b.want(t, "", "root", now)
	b.below("", "child", "root")
	b.want(t, "", "root", now, "secret")
	b.below("", "other", "root")
	b.see("", "other", now, "web")
	for _, id := range []string{"root", "child", "other"} {
		b.want(t, "", id, now, "secret", "web")
	}
	b.want(t, "", "stranger", now)
	b.Apply(labels.Record{Session: "child"}, 1) // an older record arrives again
	b.want(t, "", "root", now, "secret", "web")
}

// A session that gets the same label repeatedly keeps it for the whole time.
func TestALabelThatIsSetAgainIsRenewed(t *testing.T) {
	t.Parallel()
	for _, sender := range []string{"", coder} {
		b := &bench{Table: labels.New(labels.Options{Memory: -1})}
		b.see(sender, "s", now, "secret")
		for days, renewed := range map[int]bool{1: false, 20: true} {
			missing := b.Missing(labels.Name(sender, "s"), []string{"secret"}, now.AddDate(0, 0, days))
			if got := len(missing) > 0; got != renewed {
				t.Errorf("of %q, after %d days: renewed %v", sender, days, got)
			}
		}
	}
}

func TestASenderKeepsWhatItHasSeen(t *testing.T) {
	t.Parallel()
	b := newBench()
	b.see(coder, "s1", now, "secret")
	b.want(t, coder, "s2", now.Add(59*time.Minute), "secret")
	b.want(t, coder, "", now, "secret")
	b.want(t, coder, "s2", now.Add(68*time.Minute))
	b.want(t, coder, "s1", now.Add(1000*time.Hour), "secret")
	b.want(t, rival, "s1", now)
	b.want(t, "", "s1", now)
	if missing := b.Missing(labels.Name(coder, "s1"), []string{"secret"}, now.Add(time.Minute)); missing != nil {
		t.Errorf("%q is written again at once", missing)
	}
	b.want(t, coder, "s2", now.Add(time.Hour+time.Minute), "secret") // an hour after what was not written
	if missing := b.Missing(labels.Name(coder, "s1"), []string{"secret"}, now.Add(8*time.Minute)); missing == nil {
		t.Error("a label that was added again does not hold on for the other sessions")
	}
}

// A sender can't label sessions of another one, and a claim only adds labels.
func TestAClaimToTheSessionOfAnotherOnlyTakes(t *testing.T) {
	t.Parallel()
	b := newBench()
	b.see(coder, "s1", now, "secret")
	b.below(rival, "r1", "s1")
	b.want(t, rival, "r1", now, "secret")
	b.see(rival, "r1", now, "forged")
	b.want(t, coder, "s1", now, "secret")
	b.want(t, rival, "r1", now, "forged", "secret")
	b.see(coder, "s1", now, "later")
	b.want(t, rival, "r1", now, "forged", "later", "secret")
	b.below(coder, "s1", "r1") // a cycle
	b.want(t, coder, "s1", now, "forged", "later", "secret")
}

func TestWhatAPersonRemoves(t *testing.T) {
	t.Parallel()
	b := newBench()
	b.see(coder, "s0", now, "secret")
	b.see(coder, "s1", now, "secret", "web")
	b.below(coder, "s2", "s1")
	b.see(coder, "s2", now, "secret")
	name := labels.Name(coder, "s1")
	for _, member := range b.Having(name, []string{"secret"}) {
		r, _ := b.Get(member)
		b.set(r.Without(now.Add(time.Minute), now.Add(time.Second), "secret"))
	}
	at := now.Add(2 * time.Minute)
	b.want(t, coder, "s1", at, "web")
	b.want(t, coder, "s2", at, "web")
	b.want(t, coder, "s0", at, "secret", "web")
	b.below(coder, "s3", "s1") // removing a label from one session does not remove it from others
	b.want(t, coder, "s3", at, "secret", "web")
	b.see(coder, "s2", at, "secret")
	b.want(t, coder, "s1", at, "secret", "web")
}

// A label that a hook adds after a person was asked to remove it is stored again and stays.
func TestWhatIsAddedAfterTheQuestion(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name             string
		sender           string
		earliest, later  string // sessions that get the label before and after the question about s1
		of               []string
		skew             time.Duration // clock skew of the replica that asks
		wantS1, wantLast []string
	}{
		{"the session itself", coder, "s1", "s1", nil, 0, []string{"secret"}, []string{"secret"}},
		{"without a proven sender", "", "s1", "s1", nil, 0, []string{"secret"}, []string{"secret"}},
		{"a sub-agent", coder, "s1", "s2", []string{"s2"}, 0, []string{"secret"}, []string{"secret"}},
		{"a parent with an older label", coder, "s2", "s1", []string{"s2"}, 0, []string{"secret"}, []string{"secret"}},
		{"clocks that differ", coder, "s1", "s1", nil, time.Minute, []string{"secret"}, []string{"secret"}},
		{"another session of the sender", coder, "s1", "s3", nil, 0, []string{"secret"}, []string{"secret"}},
		{"a session of others", rival, "s1", "", nil, 0, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench()
			secret := []string{"secret"}
			add := func(session string, at time.Time) {
				name := labels.Name(test.sender, session)
				if len(b.Missing(name, secret, at)) > 0 {
					b.see(test.sender, session, b.After(name, secret, at), "secret")
				}
			}
			for _, child := range test.of {
				b.below(test.sender, child, "s1")
			}
			add(test.earliest, now)
			add("s3", now)
			name := labels.Name(test.sender, "s1")
			asked := b.After(name, secret, now.Add(time.Second+test.skew))
			r, _ := b.Get(name)
			b.set(r.Asking(asked, "secret"))
			if test.later != "" {
				add(test.later, now.Add(2*time.Second))
				if missing := b.Missing(labels.Name(test.sender, test.later), secret, now.Add(3*time.Second)); missing != nil {
					t.Errorf("%q is written once more", missing)
				}
			}
			if again := b.Again(name, secret, asked); (again != nil) != (test.later == "s1" || test.later == "s2") {
				t.Errorf("%q came again", again)
			}
			for _, member := range b.Having(name, secret) {
				r, _ := b.Get(member)
				b.set(r.Without(now.Add(4*time.Second), asked, "secret"))
			}
			b.want(t, test.sender, "s1", now.Add(5*time.Second), test.wantS1...)
			if test.later != "" {
				b.want(t, test.sender, test.later, now.Add(5*time.Second), test.wantLast...)
			}
		})
	}
}

func TestWhatIsDropped(t *testing.T) {
	t.Parallel()
	b := newBench()
	b.see("", "s1", now, "secret")
	key := labels.Key("s1")
	b.Drop(key, now.Add(time.Hour))
	b.want(t, "", "s1", now, "secret")
	b.Drop(key, now.Add(labels.Retention))
	b.want(t, "", "s1", now)
	if b.Len() != 0 {
		t.Errorf("%d are known", b.Len())
	}
}
