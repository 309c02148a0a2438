package hooktest

import (
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/contract"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// Report is what the contract check of one hook found.
type Report struct {
	Hook   string        // its id
	OK     bool          // every check passed, and there was one
	Checks []Check       // in the order in which they were made
	Took   time.Duration // of all checks
	text   string
}

// Check is one thing that was asked of the hook.
type Check struct {
	Name   string // what the hook was given: "an empty object"
	Event  string // the event, or the channel of a contributor; empty for a check of the hook as a whole
	OK     bool
	Detail string        // what the hook answered, or what was wrong with it
	Took   time.Duration // from the call to the answer
}

func newReport(r contract.Report) Report {
	own := Report{Hook: r.Hook, OK: r.OK, Took: r.Took, text: r.String()}
	for _, c := range r.Checks {
		own.Checks = append(own.Checks, Check(c))
	}
	return own
}

// Failed returns the checks that did not pass; nil for none.
func (r Report) Failed() []Check {
	var failed []Check
	for _, c := range r.Checks {
		if !c.OK {
			failed = append(failed, c)
		}
	}
	return failed
}

// String is the report for a person: a line in all, one for each event, and one for
// each check that did not pass.
func (r Report) String() string { return r.text }

// ValidateHandler registers a handler on a bus of its own, checks that it keeps
// the contract, and fails the test for each check that it does not pass: the hook must
// answer valid results for every standard event it registered for, within its time-out,
// and survive data that nobody expects. The report is for what else the test wants to
// know.
func ValidateHandler(t testing.TB, reg worker.Registration, handler worker.Handler) Report {
	t.Helper()
	b := Start(t)
	b.Register(t, reg, handler)
	return report(t, b, reg.ID)
}

// ValidateContributor is [ValidateHandler] for a contributor.
func ValidateContributor(t testing.TB, reg worker.Registration, contribute worker.Contributor) Report {
	t.Helper()
	b := Start(t)
	if _, err := b.Worker(t).RegisterContributor(t.Context(), reg, contribute); err != nil {
		t.Fatal(err)
	}
	return report(t, b, reg.ID)
}

func report(t testing.TB, b *Bus, id string) Report {
	t.Helper()
	r := b.Validate(t, id)
	for _, c := range r.Failed() {
		t.Errorf("%s, given %s %s: %s", r.Hook, c.Event, c.Name, c.Detail)
	}
	return r
}

// Validate checks a hook that is registered on this bus, and leaves the judgement
// to the test. It fails the test if the hook can't be checked at all.
func (b *Bus) Validate(t testing.TB, id string) Report {
	t.Helper()
	r, err := contract.Validate(t.Context(), contract.Options{Conn: b.Conn(t), Prefix: b.Prefix(), ID: id})
	if err != nil {
		t.Fatal(err)
	}
	return newReport(r)
}
