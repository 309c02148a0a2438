package registry_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// A hook is removed and registered again before a replica sees either: to that replica its
// record is one change, of nothing but the revision. The instance has its whole
// time-to-live from then on, however long ago its last heartbeat was.
func TestAHookThatIsRegisteredAgainIsNotExpired(t *testing.T) {
	t.Parallel()
	s := natstest.Listening(t)
	stall := &natstest.Stall{Subject: "$KV."}
	conn := natstest.Connect(t, natsx.Options{URL: s.ClientURL(), NATS: []nats.Option{stall.Option()}})
	ttl := 300 * time.Millisecond
	due, expired := make(chan struct{}, 1), make(chan time.Time, 1)
	var stalled atomic.Bool // before, nothing expires, however slow this machine is
	r := replicaOn(t, conn, registry.Options{
		Replica: "r", Lease: time.Minute, TTL: ttl,
		Record: func(_ context.Context, c registry.Change) error {
			if c.Action == "expired" {
				if !stalled.Load() {
					return errors.New("too early")
				}
				select {
				case due <- struct{}{}:
				default:
				}
			}
			return nil
		},
		Changed: func(action, _ string) {
			if action == "expired" {
				expired <- time.Now()
			}
		},
	})
	register(t, r, hook("h", "i"))

	js, err := jetstream.New(natstest.Conn(t, s))
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := js.KeyValue(t.Context(), "hooks_registry")
	if err != nil {
		t.Fatal(err)
	}
	registered, err := bucket.Get(t.Context(), "hook.h")
	if err != nil {
		t.Fatal(err)
	}
	stall.Stop()
	for _, record := range []string{`{"removed":"2026-01-01T00:00:00Z"}`, string(registered.Value())} {
		if _, err := bucket.PutString(t.Context(), "hook.h", record); err != nil {
			t.Fatal(err)
		}
	}
	stalled.Store(true)
	testkit.Receive(t, "the last heartbeat is too long ago", due)
	stall.Go()
	seen := time.Now()
	if _, err := bucket.PutString(t.Context(), "label.x", "{}"); err != nil { // what is held back goes on with the next message
		t.Fatal(err)
	}
	if after := testkit.Receive(t, "the instance expires", expired).Sub(seen); after < ttl {
		t.Errorf("it expired %v after it registered again; the time-to-live is %v", after, ttl)
	}
}
