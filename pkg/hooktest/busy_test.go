package hooktest_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hooktest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// An answer waits for its records for longer than a router would, as on a busy machine: it is not
// refused, and the agent does not try again. So the hook is called once.
func TestALogThatIsSlowCallsNoHookTwice(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		b := hooktest.Start(t)
		hook := hooktest.Script()
		b.Register(t, worker.Registration{ID: "hook", Events: []string{events.ToolPre}}, hook.Handle)
		js, err := jetstream.New(b.Conn(t))
		if err != nil {
			t.Fatal(err)
		}
		log, err := js.Stream(t.Context(), "HOOKS_AUDIT")
		if err != nil {
			t.Fatal(err)
		}
		resize := func(bytes int64) {
			t.Helper()
			config := log.CachedInfo().Config
			config.MaxBytes = bytes
			if _, err := js.UpdateStream(t.Context(), config); err != nil {
				t.Fatal(err)
			}
		}
		resize(1) // it is full
		done := make(chan error, 1)
		go func() {
			_, err := b.Agent(t, "s1").Emit(t.Context(), events.ToolPre, nil)
			done <- err
		}()
		time.Sleep(3 * time.Second) //nolint:forbidigo // of the bubble's clock
		resize(log.CachedInfo().Config.MaxBytes)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if n := len(hook.Calls()); n != 1 {
			t.Errorf("the hook was called %d times; want once", n)
		}
	})
}
