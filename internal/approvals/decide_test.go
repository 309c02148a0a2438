package approvals_test

import (
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/approvals"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Nobody can allow what a session asked before it ended: that denies, and who tries is told so.
func TestAnAllowAfterTheSessionEndedDenies(t *testing.T) {
	t.Parallel()
	decided := make(chan approval.Decision, 2)
	svc, _ := running(t, natstest.Server(t), approvals.Options{Sessions: &fake{past: true, decided: decided}})
	for id, option := range map[string]string{"allowed": "Allow", "denied": "Deny"} {
		ask(t, svc, event(id, "s1"))
		d, err := svc.Answer(t.Context(), id, approval.Answer{Option: option}, "ann")
		if option == "Deny" && (err != nil || !d.Ends()) {
			t.Errorf("a denial: %+v, %v", d, err)
		}
		if option == "Allow" {
			mustHave(t, err, wire.Conflict, "this request is outdated")
		}
		if got := testkit.Receive(t, "the decision", decided); got.Granted || (got.DecidedBy == approval.ByOutdated) != (option == "Allow") {
			t.Errorf("%s: decided is %+v", option, got)
		}
	}
	if len(decided) != 0 {
		t.Errorf("it is decided again: %+v", <-decided)
	}
}

// Nobody answers. Every replica decides by the default at the deadline, and one of them
// does it.
func TestTheDeadlineDecidesByDefault(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	decided := make(chan approval.Decision, 8)
	options := approvals.Options{Sessions: &fake{decided: decided}}
	first, _ := running(t, server, options)
	second, _ := running(t, server, options)
	for id, fallback := range map[string]string{"denied": "deny", "allowed": "allow"} {
		e := event(id, "s1")
		e.Default, e.Expires = fallback, approval.At(time.Now().Add(50*time.Millisecond))
		ask(t, first, e)
		if d := testkit.Receive(t, "the decision", decided); !d.TimedOut || d.Granted != (fallback == "allow") || d.DecidedBy != "timeout" {
			t.Errorf("the default %s: %+v", fallback, d)
		}
		for _, svc := range []*approvals.Service{first, second} {
			testkit.Eventually(t, "the replica lists nothing", func() bool {
				_, n, err := svc.Pending(t.Context(), approval.Filter{})
				return err == nil && n == 0
			})
		}
		_, err := second.Answer(t.Context(), id, approval.Answer{Option: "Allow"}, "ann")
		mustHave(t, err, wire.Gone, "the time for an answer ended")
	}
	if len(decided) != 0 {
		t.Errorf("it is decided again: %+v", <-decided)
	}
}

// The clock of a router is five minutes ahead of that of NATS: it waits no less than others, and takes
// answers.
func TestTheDeadlineIsByTheClockOfNATS(t *testing.T) {
	t.Parallel()
	decided := make(chan approval.Decision, 2)
	svc, _ := running(t, natstest.Server(t), approvals.Options{Sessions: &fake{decided: decided}})
	svc.SetTime(time.Now().Add(-5 * time.Minute))
	for id, lifetime := range map[string]time.Duration{"answered": time.Minute, "forgotten": 300 * time.Millisecond} {
		e := event(id, "s1")
		e.Default, e.Created, e.Expires = "allow", approval.At(svc.Now()), approval.At(svc.Now().Add(lifetime))
		ask(t, svc, e)
	}
	if d := testkit.Receive(t, "the decision by default", decided); !d.TimedOut {
		t.Errorf("decided: %+v", d)
	}
	if d, err := svc.Answer(t.Context(), "answered", approval.Answer{Option: "Deny"}, "ann"); err != nil || d.Granted {
		t.Errorf("the answer: %+v, %v", d, err)
	}
	if d := testkit.Receive(t, "the decision by ann", decided); d.TimedOut || d.Granted {
		t.Errorf("decided: %+v", d)
	}
}

// A router that starts decides what it did not see asked.
func TestARestartKeepsTheDeadline(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	e := event("a1", "s1")
	e.Expires = approval.At(time.Now().Add(-time.Millisecond))
	ask(t, service(t, server, approvals.Options{}), e)
	decided := make(chan approval.Decision, 1)
	running(t, server, approvals.Options{Sessions: &fake{decided: decided}})
	if d := testkit.Receive(t, "the decision", decided); !d.TimedOut {
		t.Errorf("it is decided by %+v", d)
	}
}
