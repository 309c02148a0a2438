package registry

import (
	"log/slog"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// TestHorizon: a record that was replaced before it was received may be missing until the one that
// replaced it is there, whatever else was received meanwhile.
func TestHorizon(t *testing.T) {
	t.Parallel()
	ctx := testkit.Within(t, 10*time.Second)
	s := natstest.Listening(t)
	conn, err := natsx.Connect(natsx.Options{URL: s.ClientURL()})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	bucket, err := conn.OpenBucket(ctx, natsx.BucketOptions{Name: "b", Replicas: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"hook", "replica", "hook"} { // revisions 1 to 3; 1 is replaced
		if _, err := bucket.Put(ctx, key, nil); err != nil {
			t.Fatal(err)
		}
	}
	h := horizon{bucket: bucket, timeout: 5 * time.Second, log: slog.New(slog.DiscardHandler)}
	for _, c := range []struct {
		revision uint64
		reached  bool
	}{{2, false}, {3, true}, {4, true}} {
		if h.saw(c.revision); h.reached(ctx) != c.reached {
			t.Errorf("at revision %d, reached is %v", c.revision, !c.reached)
		}
	}
	s.Shutdown()
	h.saw(5)
	if !h.reached(ctx) {
		t.Error("it asks the server although no revision was skipped")
	}
	h.saw(7)
	if h.timeout = 10 * time.Millisecond; h.reached(ctx) {
		t.Error("a revision was skipped and nobody says which is the newest; it counts as reached")
	}
}
