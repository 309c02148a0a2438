package signer_test

import (
	"testing"

	"github.com/hookrouter/hookrouter/internal/auditlog/signer"
)

// The first checkpoint of a segment names the last one of the segment before. A router that ends and
// does not know yet that another signed the end adds none to it.
func TestARouterThatEndsSignsNoEndAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	router := func() *signer.Signer {
		return signer.New(f.log, signer.Options{
			Key: f.key.Signer, Verifier: f.key.Verifier, Upgraded: func() bool { return true },
			Alarm: func(reason string) { t.Error(reason) },
		})
	}
	signs, ends := router(), router()
	f.write("")
	signs.Look(t.Context(), false)
	ends.Look(t.Context(), false)
	f.write("")
	signs.Look(t.Context(), false)
	end := f.last()
	if end.Size != 2 {
		t.Fatalf("the segment is signed up to message %d", end.Size)
	}
	f.rotate()
	f.write("")
	signs.Look(t.Context(), false)
	ends.Look(t.Context(), true)
	f.write("")
	signs.Look(t.Context(), false)
	segments, err := f.log.Segments(t.Context())
	if err != nil || len(segments) != 2 {
		t.Fatalf("%d segments, %v", len(segments), err)
	}
	if last := f.lastOf(segments[0]); last.Digest() != end.Digest() {
		t.Errorf("the segment's last checkpoint is\n%s, and the next segment names\n%s", last.Text(), end.Text())
	}
}
