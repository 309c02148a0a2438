package simulation

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server/ats"
	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/testkit"
)

func TestMain(m *testing.M) {
	ats.Register() // outside of every bubble, so that the server's clock belongs to none
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}

// Approvals hold, whatever happens to the routers and however close to the
// deadline people answer. HOOKROUTER_SEED is the first seed; without it that is 1.
//
// The volume is small: a watcher of nats.go waits for a lost reply while it holds a lock, and if a
// message comes meanwhile, the virtual clock stands still.
func TestApprovalsHold(t *testing.T) {
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("HOOKROUTER_SEED"), "1"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	n, sessions := testkit.Volume(t, 20, 200, 600), testkit.Volume(t, 6, 60, 60)
	total, ends := 0, endings{}
	const most = 1000 // seeds: with -run, others than the named one make no requests
	for last := seed + most; total < n && seed < last; seed++ {
		passed := t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { total += simulate(t, seed, sessions, &ends) })
		if !passed {
			return // one history is enough to read
		}
	}
	t.Logf("volume: %d approvals; routers: %d killed, %d stopped, %d cut off", total, ends.killed, ends.stopped, ends.cut)
}

// simulate runs one seed and returns how many approval requests it had.
func simulate(t *testing.T, seed uint64, sessions int, ends *endings) (questions int) {
	collect()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		w := newWorld(t, seed, sessions, ends)
		w.run()
		for _, finding := range w.h.check() {
			t.Error(finding)
		}
		if t.Failed() {
			t.Logf("the routers warned:\n%s", &w.warned)
		}
		questions = len(w.h.questions)
		if questions < sessions {
			t.Errorf("%d approval requests prove nothing", questions)
		}
		w.report(time.Since(began))
	})
	return questions
}

// collect lets go of what is in pools: the client library keeps timers of earlier
// bubbles there.
func collect() {
	runtime.GC()
	runtime.GC()
}

// report says what the run was good for.
func (w *world) report(virtual time.Duration) {
	by := map[string]int{}
	for _, r := range w.h.records {
		by[r.DecidedBy]++
	}
	codes := map[int]int{}
	for _, a := range w.h.answers {
		codes[a.code]++
	}
	cached, unasked := 0, 0
	for _, t := range w.h.tellings {
		switch a := t.verdict.Approval; {
		case a == nil:
			unasked++
		case a.Cached:
			cached++
		}
	}
	w.t.Logf("%v: %d approval requests, decided by %v; %d verdicts (%d remembered, %d by a hook out of reach); "+
		"%d answers, %d within 20 ms of a deadline, by code %v",
		virtual.Round(time.Second), len(w.h.questions), by, len(w.h.tellings), cached, unasked, len(w.h.answers), w.close.Load(), codes)
}
