package approvals_test

import (
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/approvals"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// An agent that polls does not wait for a person. It gets the decision once there is one.
func TestAwaitWithoutTimeGivesTheDecision(t *testing.T) {
	t.Parallel()
	svc, _ := running(t, natstest.Server(t), approvals.Options{})
	for id, option := range map[string]string{"yes": "Allow", "no": "Deny"} {
		e := ask(t, svc, event(id, "s1"))
		if got := testkit.Receive(t, "pending", await(svc, e, time.Now())); got.decision != nil {
			t.Errorf("nobody answered: %+v", got.decision)
		}
		if _, err := svc.Answer(t.Context(), id, approval.Answer{Option: option}, "ann"); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			got := testkit.Receive(t, "the decision", await(svc, e, time.Now()))
			if got.decision == nil || got.decision.Option != option || (got.event.Data != nil) != got.decision.Granted {
				t.Fatalf("%s: %+v, data %s", option, got.decision, got.event.Data)
			}
		}
	}
}
