package store_test

import (
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/internal/bundle"
	"github.com/hookrouter/hookrouter/internal/bundle/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/wire"
)

func open(t *testing.T) *store.Store {
	t.Helper()
	return store.New(openBucket(t))
}

func openBucket(t *testing.T) *natsx.Bucket {
	t.Helper()
	conn := natstest.Connect(t, natsx.Options{InProcess: natstest.Server(t)})
	bucket, err := conn.OpenBucket(t.Context(), store.Bucket("hooks", 1))
	if err != nil {
		t.Fatal(err)
	}
	return bucket
}

func get(t *testing.T, s *store.Store, name string, use bundle.Use, serial uint64) store.Entry {
	t.Helper()
	e, err := s.Get(t.Context(), name, use, serial)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A policy replaces the one that whoever pushes it has seen; one in shadow stands beside,
// and policies whose names hold dots stay apart.
func TestPut(t *testing.T) {
	t.Parallel()
	s := open(t)
	put := func(name string, use bundle.Use, serial, at uint64, text string) (uint64, error) {
		return s.Put(t.Context(), bundle.Statement{Name: name, Use: use, Serial: serial}, []byte(text), at)
	}
	if e := get(t, s, "prod", bundle.Enforce, 0); e.Raw != nil || e.Revision != 0 {
		t.Errorf("an empty store has %+v", e)
	}
	first, err := put("prod", bundle.Enforce, 1, 0, "one")
	if err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]uint64{"who saw none": 0, "who saw another": first + 1} {
		if _, err := put("prod", bundle.Enforce, 2, at, "late"); wire.CodeOf(err) != wire.Conflict {
			t.Errorf("%s: %v; want a conflict", name, err)
		}
	}
	if _, err := put("prod", bundle.Shadow, 2, 0, "tried"); err != nil {
		t.Fatal(err)
	}
	if _, err := put("prod.eu", bundle.Enforce, 1, 0, "europe"); err != nil {
		t.Fatal(err)
	}
	if _, err := put("prod", bundle.Enforce, 3, first, "three"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		use    bundle.Use
		serial uint64
		want   string
	}{
		{"prod", bundle.Enforce, 0, "three"},
		{"prod", bundle.Shadow, 0, "tried"},
		{"prod.eu", bundle.Enforce, 0, "europe"},
		{"prod", bundle.Enforce, 1, "one"},
		{"prod", bundle.Enforce, 3, "three"},
		{"prod", bundle.Enforce, 2, ""}, // it was never to be enforced
		{"prod.eu", bundle.Enforce, 3, ""},
	} {
		if got := string(get(t, s, tt.name, tt.use, tt.serial).Raw); got != tt.want {
			t.Errorf("%s to %s, serial %d: %q; want %q", tt.name, tt.use, tt.serial, got, tt.want)
		}
	}
}

// The last versions are kept for a rollback, and no more.
func TestKept(t *testing.T) {
	t.Parallel()
	s := open(t)
	at := uint64(0)
	for serial := uint64(1); serial <= store.Kept+2; serial++ {
		var err error
		if at, err = s.Put(t.Context(), bundle.Statement{Name: "prod", Use: bundle.Enforce, Serial: serial}, fmt.Append(nil, serial), at); err != nil {
			t.Fatal(err)
		}
	}
	for serial, want := range map[uint64]string{1: "", 2: "", 3: "3", store.Kept + 2: fmt.Sprint(store.Kept + 2)} {
		if got := string(get(t, s, "prod", bundle.Enforce, serial).Raw); got != want {
			t.Errorf("serial %d: %q; want %q", serial, got, want)
		}
	}
}

// A router that is killed between the two writes of a push loses no version: the next push completes
// it.
func TestAPushThatWasCutShortIsKept(t *testing.T) {
	t.Parallel()
	bucket := openBucket(t)
	s := store.New(bucket)
	secret, _, err := note.GenerateKey(rand.Reader, "policy")
	if err != nil {
		t.Fatal(err)
	}
	key, err := note.NewSigner(secret)
	if err != nil {
		t.Fatal(err)
	}
	version := func(serial uint64) *bundle.Bundle {
		b, err := bundle.Seal(key, bundle.Statement{Name: "prod", Serial: serial, Use: bundle.Enforce, Created: time.Now()}, []bundle.File{{Name: "worker.yaml", Text: fmt.Sprint(serial)}})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	one, two := version(1), version(2)
	at, err := bucket.Update(t.Context(), "enforce.prod", one.Raw, 0) // and nothing after it
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), two.Statement, two.Raw, at); err != nil {
		t.Fatal(err)
	}
	for _, b := range []*bundle.Bundle{one, two} {
		if got := get(t, s, "prod", bundle.Enforce, b.Serial); string(got.Raw) != string(b.Raw) {
			t.Errorf("version %d is lost: %q", b.Serial, got.Raw)
		}
	}
}
