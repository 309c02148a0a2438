package labels_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/labels"
)

// flood returns records of sessions that each claim one of some roots, and up to the limit further
// ids that are unique to the session.
func flood(sessions, roots int) (records []labels.Record) {
	for i := range sessions {
		r := labels.Record{Sender: coder, Session: fmt.Sprint("s", i), Time: now, Claims: []string{fmt.Sprint("root", i%roots)}}
		for j := range labels.MaxClaims - 1 {
			r.Claims = append(r.Claims, fmt.Sprintf("ghost-%d-%d", i, j))
		}
		records = append(records, r)
	}
	return records
}

// apply returns a table of records.
func apply(records []labels.Record) *bench {
	b := newBench()
	for _, r := range records {
		b.set(r)
	}
	return b
}

// fastest returns the shortest time of several runs.
func fastest(run func()) time.Duration {
	best := time.Hour
	for range 5 {
		runtime.GC()
		start := time.Now()
		run()
		best = min(best, time.Since(start))
	}
	return best
}

// Claims have the same cost in one tree of all sessions as in one tree per session, when they are
// stored and when labels are read.
func TestManyClaimsInOneTreeCostLittle(t *testing.T) {
	const sessions = 400
	apart, joined := flood(sessions, sessions), flood(sessions, 1)
	compare(t, "apply", fastest(func() { apply(apart) }), fastest(func() { apply(joined) }))
	read := func(b *bench) func() {
		return func() {
			for range 1000 {
				b.Of(labels.Name(coder, "s1"), now)
			}
		}
	}
	compare(t, "read", fastest(read(apply(apart))), fastest(read(apply(joined))))
}

func compare(t *testing.T, what string, apart, joined time.Duration) {
	t.Helper()
	t.Logf("%s: apart %v, in one tree %v", what, apart, joined)
	if joined > 6*apart {
		t.Errorf("%s: takes %v in one tree, %v apart", what, joined, apart)
	}
}

func TestClaimsComeBeforeTheSessionOfAnother(t *testing.T) {
	t.Parallel()
	b := newBench()
	b.below(rival, "r1", "s1")
	b.below(rival, "r2", "r1", "s2")
	b.below(rival, "r3", "s3")
	b.below(rival, "r3", "r2")
	for _, id := range []string{"s1", "s2", "s3"} {
		b.see(coder, id, now, "of "+id)
	}
	for _, id := range []string{"r1", "r2", "r3"} {
		b.want(t, rival, id, now, "of s1", "of s2", "of s3")
	}
	b.want(t, coder, "s1", now.Add(2*time.Hour), "of s1")
}

func TestGrowth(t *testing.T) {
	t.Parallel()
	b := newBench()
	r := labels.Record{Sender: coder, Session: "s"}
	for _, step := range []struct {
		claims []string
		want   int
	}{{nil, 1}, {[]string{"p"}, 1}, {[]string{"p", "q", "r"}, 2}, {[]string{"p", "q", "r"}, 0}} {
		r.Claims = step.claims
		before := b.LenOf(coder)
		if got := b.Growth(r); got != step.want {
			t.Errorf("%q makes %d sessions known, want %d", r.Claims, got, step.want)
		}
		b.set(r)
		if got := b.LenOf(coder) - before; got != step.want {
			t.Errorf("%q made %d sessions known, want %d", r.Claims, got, step.want)
		}
	}
	if got := b.Growth(labels.Record{Sender: coder, Session: "p"}); got != 0 {
		t.Errorf("the record of a claimed session makes %d sessions known", got)
	}
	if got := b.Growth(labels.Record{Sender: rival, Session: "p"}); got != 1 {
		t.Errorf("another sender's record makes %d sessions known", got)
	}
}

// A session without a record is removed with the last record that claims it.
func TestWhatOnlyWasClaimedIsDropped(t *testing.T) {
	t.Parallel()
	b := newBench()
	for _, r := range flood(2, 1) {
		b.set(r)
		b.set(r) // repeated claims count once
	}
	if want := 2*labels.MaxClaims + 1; b.Len() != want {
		t.Fatalf("%d are known, want %d", b.Len(), want)
	}
	late := now.Add(labels.Retention + time.Hour)
	for _, step := range []struct {
		session string
		want    int
	}{{"s0", labels.MaxClaims + 1}, {"s0", labels.MaxClaims + 1}, {"root0", labels.MaxClaims + 1}, {"s1", 0}} {
		b.Drop(labels.Key(labels.Name(coder, step.session)), late)
		if b.Len() != step.want || b.LenOf(coder) != step.want {
			t.Fatalf("after %s %d are known, %d of the sender, want %d", step.session, b.Len(), b.LenOf(coder), step.want)
		}
	}
	b.want(t, coder, "root0", now)
}

// A session whose record was removed still connects the sessions that claim it.
func TestWhatIsDroppedMayStayClaimed(t *testing.T) {
	t.Parallel()
	b := newBench()
	old := labels.Record{Session: "parent", Claims: []string{"root"}, Time: now}
	b.set(old.With("hook", now, "secret"))
	late := now.Add(labels.Retention + time.Hour)
	b.set(labels.Record{Session: "child", Claims: []string{"parent"}, Time: late})
	b.Drop(labels.Key("parent"), late)
	if b.Len() != 2 || len(b.Old(late)) != 0 {
		t.Errorf("%d are known and %d old, want the child and its parent", b.Len(), len(b.Old(late)))
	}
	b.want(t, "", "root", late)
	b.see("", "sibling", late, "web")
	b.below("", "sibling", "parent")
	b.want(t, "", "child", late, "secret", "web")
	b.want(t, "", "parent", late, "secret", "web")
	for _, id := range []string{"child", "sibling"} {
		b.Drop(labels.Key(id), late.Add(labels.Retention+time.Hour))
	}
	if b.Len() != 0 {
		t.Errorf("%d are known at the end", b.Len())
	}
}

// Sessions that claim each other do not keep each other alive.
func TestACircleOfClaimsIsDropped(t *testing.T) {
	t.Parallel()
	b := newBench()
	b.below(coder, "s1", "s2")
	b.below(coder, "s2", "s1", "s2")
	for _, id := range []string{"s1", "s2"} {
		b.Drop(labels.Key(labels.Name(coder, id)), now.Add(labels.Retention))
	}
	if b.Len() != 0 {
		t.Errorf("%d are known", b.Len())
	}
}

// The trees that a foreign claim leads to are collected once, not for each event.
func TestManyForeignTreesCostLittle(t *testing.T) {
	const trees = 4000
	b := newBench()
	for i := range trees {
		b.see(coder, fmt.Sprint("s", i), now, fmt.Sprint("label", i%4))
		b.below(rival, fmt.Sprint("r", i/15), "root", fmt.Sprint("s", i))
	}
	read := func() {
		for range 100 {
			b.want(t, rival, "root", now, "label0", "label1", "label2", "label3")
		}
	}
	b.see(coder, "s0", now, "label9")
	b.want(t, rival, "root", now, "label0", "label1", "label2", "label3", "label9")
	b.set(labels.Record{Sender: coder, Session: "s0", Time: now}.With("hook", now, "label0"))
	if took := fastest(read); took > 50*time.Millisecond {
		t.Errorf("100 reads took %v", took)
	}
}
