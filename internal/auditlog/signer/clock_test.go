package signer_test

import (
	"context"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/signer"
	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/testkit"
)

// A router whose clock was ahead is gone: the others sign at once, not when their clocks have caught up.
func TestACheckpointFromTheFutureIsContinued(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("")
	f.sign(true)
	f.signAt(time.Now().Add(time.Hour))
	f.write("")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		signer.New(f.log, signer.Options{Key: f.key.Signer, Verifier: f.key.Verifier}).Run(ctx)
	}()
	defer func() { cancel(); <-ended }()
	testkit.Until(t, ctx, "the next record is signed", func() bool { return f.last().Size == 2 })
}

// signAt repeats the last checkpoint as a router signs it whose clock shows now.
func (f *fixture) signAt(now time.Time) {
	f.Helper()
	log := f.log
	last, err := log.LastCheckpoint(f.Context(), log.Live())
	if err != nil {
		f.Fatal(err)
	}
	c := f.last()
	c.Previous, c.Time = c.Digest(), now
	signed, err := c.Sign(f.key.Signer)
	if err != nil {
		f.Fatal(err)
	}
	if _, err := log.AppendCheckpoint(f.Context(), log.Live(), store.Checkpoint{Signed: string(signed), Subtrees: last.Subtrees}, last.Revision); err != nil {
		f.Fatal(err)
	}
}
