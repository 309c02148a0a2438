package dispatch_test

import (
	"testing"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Only a person who allows removes labels, and that is on record.
func TestOnlyAPersonRemovesLabels(t *testing.T) {
	person := approval.Decision{Granted: true, DecidedBy: "nats approver/ann"}
	for name, test := range map[string]struct {
		unlabel  []string
		decision approval.Decision
		removes  bool
	}{
		"a person allows":     {[]string{"secret"}, person, true},
		"nothing to remove":   {nil, person, false},
		"a person denies":     {[]string{"secret"}, approval.Decision{DecidedBy: "nats approver/ann"}, false},
		"a rule allows":       {[]string{"secret"}, approval.Decision{Granted: true, DecidedBy: "rule reading"}, false},
		"the deadline allows": {[]string{"secret"}, approval.Decision{Granted: true, DecidedBy: "timeout", TimedOut: true}, false},
	} {
		b := newBench(t, dispatch.Options{})
		if err := b.Unlabel(t.Context(), &held.Event{Unlabel: test.unlabel}, test.decision); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if records := b.deps.records(t); (len(records) == 1) != test.removes {
			t.Errorf("%s: on record is %v", name, records)
		}
	}
}

// An approved event whose hooks added no labels does not wait for the store of labels.
func TestWithoutLabelsNothingIsStoredAgain(t *testing.T) {
	b := newBench(t, dispatch.Options{})
	if err := b.Relabel(t.Context(), &held.Event{}); err != nil {
		t.Errorf("no labels: %v", err)
	}
	if err := b.Relabel(t.Context(), &held.Event{AddedLabels: map[string]string{"secret": "a"}}); err == nil {
		t.Error("permitted, though its labels are not stored")
	}
}
