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

// What several senders share has no sender in its name: who begins it is named otherwise.
func TestOneSenderDoesNotFillTheStoreWithWhatIsShared(t *testing.T) {
	t.Parallel()
	store := shared{&hookstate.Memory{}}
	sessions := hookstate.Of[int](store, "limits.x")
	count := func(sender, name string) error {
		return sessions.By(sender).Update(t.Context(), name, func(n *int) bool { *n++; return true })
	}
	var failed error
	for i := 0; failed == nil && i < 2*hookstate.MaxNew; i++ {
		failed = count("nats agent/a", fmt.Sprint("all ", i))
	}
	if failed == nil || store.Len() != hookstate.MaxNew {
		t.Errorf("%d values are kept, %v; want %d, and an error", store.Len(), failed, hookstate.MaxNew)
	}
	for _, err := range []error{count("nats agent/a", "all 0"), count("nats agent/b", "all new"), count("nats agent/a", "session nats agent/a\ns1")} {
		if err != nil {
			t.Error(err)
		}
	}
}
