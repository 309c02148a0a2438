package worker_test

import (
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hooktest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// A hook that fails open quotes what an agent made long.
func TestAReplyThatIsTooLargeStillDenies(t *testing.T) {
	t.Parallel()
	_, w, a := one(t, router.Options{})
	long := strings.Repeat("é", 300_000)
	for id, c := range map[string]struct {
		result worker.Result
		reason string // how that of the denial begins
		bytes  int    // of the reason, at most
	}{
		"a-denial":                {chain.Denial("no: " + long), "no: éé", 5000},
		"a-denial-with-a-message": {chain.Result{Action: chain.Deny, Reason: "no", UserMessage: long}, "no", 2},
		"a-denial-with-data":      {chain.Result{Action: chain.Deny, Reason: "no", Data: []byte(`{"k":"` + long + `"}`)}, "no", 2},
		"a-question":              {chain.Question("Run " + long + "?"), "The hook's answer has 600", 100},
		"a-question-with-a-key":   {chain.Result{Action: chain.AskUser, ApprovalKey: long}, "The hook's answer has 600", 100},
		"a-result-with-labels":    {chain.Result{Labels: []string{"untrusted"}, UserMessage: long}, "The hook's answer has 600", 100},
	} {
		t.Run(id, func(t *testing.T) {
			unregister := register(t, w, worker.Registration{ID: id}, hooktest.Script(c.result).Handle)
			answer := emit(t, a, `{}`)
			if answer.DeniedBy != id || answer.FailedOpen != nil || !strings.HasPrefix(answer.Reason, c.reason) || len(answer.Reason) > c.bytes {
				t.Errorf("denied by %q, failed open %q, for %.60q of %d bytes", answer.DeniedBy, answer.FailedOpen, answer.Reason, len(answer.Reason))
			}
			if err := unregister(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}
