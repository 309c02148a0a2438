package registry

import (
	"log/slog"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// TestGaps: a record that was replaced before it was received may be missing until the one that
// replaced it is there, whatever else was received meanwhile.
func TestGaps(t *testing.T) {
	t.Parallel()
	ctx := testkit.Within(t, testkit.Patience)
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
	g := gaps{bucket: bucket, timeout: testkit.Patience, log: slog.New(slog.DiscardHandler)}
	for _, c := range []struct {
		revision uint64
		closed   bool
	}{{2, false}, {3, true}, {4, true}} {
		if g.received(c.revision); g.closed(ctx) != c.closed {
			t.Errorf("at revision %d, closed is %v", c.revision, !c.closed)
		}
	}
	s.Shutdown()
	g.received(5)
	if !g.closed(ctx) {
		t.Error("it asks the server although no revision was skipped")
	}
	g.received(7)
	if g.timeout = 10 * time.Millisecond; g.closed(ctx) {
		t.Error("a revision was skipped and nobody says which is the newest; the gap counts as closed")
	}
}
