package signer_test

import (
	"crypto/sha256"
	"path/filepath"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/internal/auditlog/signer"
	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// Routers are restarted one after the other with another key, and killed, while segments are closed:
// whoever knows both keys finds one history, signed to the end.
func TestTheKeyIsReplacedWhileSegmentsAreClosed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other, err := signer.LoadKey(filepath.Join(t.TempDir(), "audit.key"))
	if err != nil {
		t.Fatal(err)
	}
	router := func(key *signer.Key) *signer.Signer { // one that is killed: it does not sign when it ends
		return signer.New(f.log, signer.Options{
			Key: key.Signer, Verifier: key.Verifier, Upgraded: func() bool { return true },
			Alarm: func(reason string) { t.Error(reason) },
		})
	}
	before, after := router(f.key), router(other)
	for range 3 {
		f.write("")
		before.Look(t.Context(), false)
		after.Look(t.Context(), true) // as after the standby time
		f.write("")
		after.Look(t.Context(), true)
		f.rotate()
		f.write("")
		before = router(f.key) // killed, and started again
		before.Look(t.Context(), true)
		after.Look(t.Context(), false)
		f.write("")
		after = router(other)
		after.Look(t.Context(), true)
	}
	segments, err := f.log.Segments(t.Context())
	if err != nil || len(segments) != 4 {
		t.Fatalf("%d segments, %v", len(segments), err)
	}
	var previous [sha256.Size]byte
	keys := audit.Keys{Routers: []note.Verifier{f.key.Verifier, other.Verifier}}
	for i, segment := range segments {
		state, err := f.log.State(t.Context(), segment)
		if err != nil {
			t.Fatal(err)
		}
		last, err := f.log.LastCheckpoint(t.Context(), segment)
		if err != nil {
			t.Fatal(err)
		}
		c, _, err := keys.Open([]byte(last.Signed))
		if err != nil || uint64(c.Size) != state.Last {
			t.Errorf("%s is signed to %d of %d, %v", segment.Name(), c.Size, state.Last, err)
		}
		if first := firstOf(t, f, segment, keys); i > 0 && first.Previous != previous {
			t.Errorf("%s does not name the last checkpoint of the segment before", segment.Name())
		}
		previous = c.Digest()
	}
}

// firstOf is the first checkpoint of a segment.
func firstOf(t *testing.T, f *fixture, segment store.Segment, keys audit.Keys) (first audit.Checkpoint) {
	t.Helper()
	none := true
	err := f.log.Checkpoints(t.Context(), segment, func(c store.Checkpoint) (err error) {
		if none {
			first, _, err = keys.Open([]byte(c.Signed))
			none = false
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return first
}
