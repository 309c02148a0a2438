package hooktest

import (
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/contract"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// Report is the result of the contract check of one hook.
type Report struct {
	Hook   string        // the hook's id
	OK     bool          // there was at least one check, and all passed
	Checks []Check       // in the order in which they ran
	Took   time.Duration // of all checks
	text   string
}

// Check is one check of a hook.
type Check struct {
	Name   string // the input of the check, such as "an empty object"
	Event  string // the event, or a contributor's channel; empty for a check of the hook as a whole
	OK     bool
	Detail string        // the hook's answer, or the problem
	Took   time.Duration // from the call to the answer
}

func newReport(r contract.Report) Report {
	own := Report{Hook: r.Hook, OK: r.OK, Took: r.Took, text: r.String()}
	for _, c := range r.Checks {
		own.Checks = append(own.Checks, Check(c))
	}
	return own
}

// Failed returns the checks that failed; nil if none did.
func (r Report) Failed() []Check {
	var failed []Check
	for _, c := range r.Checks {
		if !c.OK {
			failed = append(failed, c)
		}
	}
	return failed
}

// String returns the report for people: a summary line, one line for each event, and one for each
// failed check.
func (r Report) String() string { return r.text }

// ValidateHandler registers a handler on a new bus, runs the contract checks, and fails the test
// for each check that fails. The hook must return valid results for every standard event that it
// registered for, within its time-out, and must handle unexpected data. The report is for further
// assertions.
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

// Validate runs the contract checks on a hook that is registered on this bus. The test decides what
// the results mean; Validate fails it only if the hook can't be checked at all.
func (b *Bus) Validate(t testing.TB, id string) Report {
	t.Helper()
	r, err := contract.Validate(t.Context(), contract.Options{Conn: b.Conn(t), Prefix: b.Prefix(), ID: id})
	if err != nil {
		t.Fatal(err)
	}
	return newReport(r)
}
