package hooktest

import (
	"testing"

	"github.com/hookrouter/hookrouter/internal/contract"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// Report is what the contract check of one hook found.
type Report = contract.Report

// ValidateHandler registers a handler on a bus of its own, checks that it keeps
// the contract (see package contract for what is asked), and fails the test for
// each check that it does not pass. The report is for what else the test wants
// to know.
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
// to the test. It fails the test where the hook can't be checked at all.
func (b *Bus) Validate(t testing.TB, id string) Report {
	t.Helper()
	r, err := contract.Validate(t.Context(), contract.Options{Conn: b.Conn(t), Prefix: b.Prefix(), ID: id})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
