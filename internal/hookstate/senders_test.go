package hookstate_test

import (
	"fmt"
	"testing"

	"github.com/hookrouter/hookrouter/internal/hookstate"
)

// shared is a store that others share.
type shared struct{ *hookstate.Memory }

func TestOneSenderDoesNotFillTheStore(t *testing.T) {
	t.Parallel()
	store := shared{&hookstate.Memory{}}
	sessions := hookstate.Of[int](store, "limits.x")
	count := func(session string) error {
		return sessions.Update(t.Context(), session, func(n *int) bool { *n++; return true })
	}
	var failed error
	begun := 0
	for ; failed == nil && begun < 2*hookstate.MaxNew; begun++ {
		failed = count(fmt.Sprintf("nats agent/a\ns%d", begun))
	}
	if failed == nil || store.Len() != hookstate.MaxNew {
		t.Errorf("%d values are kept, %v; want %d, and an error", store.Len(), failed, hookstate.MaxNew)
	}
	for _, session := range []string{"nats agent/a\ns0", "nats agent/b\ns0", "all tools"} {
		if err := count(session); err != nil {
			t.Errorf("%q: %v", session, err)
		}
	}
	if err := sessions.Forget(t.Context(), "nats agent/a\ns1"); err != nil {
		t.Fatal(err)
	}
	if err := count("nats agent/a\nlast"); err != nil {
		t.Errorf("a session after another ended: %v", err)
	}
	if err := count("nats agent/a\nmore"); err == nil {
		t.Error("it took one too many")
	}
}
