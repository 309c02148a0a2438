package registry_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/labels"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// storeSessions stores records of a sender that make a number of sessions known.
func storeSessions(t *testing.T, s natsx.InProcess, sender string, sessions int) {
	t.Helper()
	conn, err := natsx.Connect(natsx.Options{InProcess: s})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	bucket, err := conn.OpenBucket(t.Context(), registry.Bucket(conn.Bucket(), 1))
	if err != nil {
		t.Fatal(err)
	}
	for sessions > 0 {
		record := labels.Record{Session: fmt.Sprint("s", sessions), Sender: sender, Time: time.Now()}
		for sessions--; sessions > 0 && len(record.Claims) < 500; sessions-- {
			record.Claims = append(record.Claims, fmt.Sprint("claimed", sessions))
		}
		body, err := record.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bucket.Update(t.Context(), "label."+labels.Key(record.Name()), body, 0); err != nil {
			t.Fatal(err)
		}
	}
}

// The sessions of an agent are limited, whether they have records or others only claim them.
func TestClaimedSessionsCount(t *testing.T) {
	t.Parallel()
	const limit = 20_000
	server := natstest.Server(t)
	storeSessions(t, server, "evil", limit-3)
	r := replica(t, server, registry.Options{Replica: "first"})
	ctx := testkit.Within(t, testkit.Patience)
	for _, step := range []struct {
		sender, session, parent, root string
		full                          bool
	}{
		{"evil", "mine", "p", "", false},
		{"evil", "mine", "q", "r", true}, // room for one
		{"evil", "mine", "q", "", false},
		{"evil", "mine", "r", "", true},
		{"evil", "more", "p", "", true},
		{"evil", "mine", "claimed1", "", false}, // known before
		{"evil", "p", "q", "", false},
		{"victim", "v", "p", "q", false},
	} {
		err := r.Claim(ctx, labels.Name(step.sender, step.session), step.parent, step.root)
		if full := wire.CodeOf(err) == wire.Overloaded; full != step.full || !full && err != nil {
			t.Errorf("%+v: %v", step, err)
		}
	}
	secret := map[string]string{"secret": "guard"}
	if _, err := r.AddLabels(ctx, labels.Name("evil", "q"), secret); err != nil {
		t.Errorf("a label of a session that was claimed: %v", err)
	}
	if _, err := r.AddLabels(ctx, labels.Name("evil", "new"), secret); wire.CodeOf(err) != wire.Overloaded {
		t.Errorf("a label of a new session: %v", err)
	}
}
