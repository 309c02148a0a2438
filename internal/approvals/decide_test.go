package approvals_test

import (
	"testing"

	"github.com/hookrouter/hookrouter/internal/approvals"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Nobody can allow what a session asked before it ended: that denies, and who tries is told so.
func TestWhatIsPastIsDenied(t *testing.T) {
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
