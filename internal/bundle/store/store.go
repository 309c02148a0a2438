// Package store stores signed policies in a bucket next to the state of routers: the newest of each
// name and use, and the last [Kept] enforced ones for rollbacks.
//
// It does not verify signatures and has no keys; workers verify. An attacker who can write to the
// store but has no key can only withhold new policies.
package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/bundle"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// Kept is the number of enforced bundles of a policy that are kept, including the newest.
const Kept = 32

// Bucket returns the configuration of the bucket of policies.
func Bucket(prefix string, replicas int) natsx.BucketOptions {
	return natsx.BucketOptions{Name: prefix + "_policies", Description: "signed policies for workers", Replicas: replicas, LeaderReads: true}
}

// Store is the store of policies. It is safe for concurrent use.
type Store struct{ bucket *natsx.Bucket }

// New returns a store on a bucket.
func New(bucket *natsx.Bucket) *Store { return &Store{bucket} }

// Entry is a stored bundle. The zero Entry means that there is none.
type Entry struct {
	Raw      []byte
	Revision uint64 // of its key; a replacement must name it
}

// Get returns the newest bundle of a name and a use, or the enforced bundle with a serial if serial
// is not 0.
func (s *Store) Get(ctx context.Context, name string, use bundle.Use, serial uint64) (Entry, error) {
	key := newest(name, use)
	if serial > 0 {
		key = archived(name, serial)
	}
	e, err := s.bucket.Get(ctx, key)
	if errors.Is(err, natsx.ErrNoKey) {
		return Entry{}, nil
	}
	return Entry{e.Value, e.Revision}, err
}

// Put replaces the bundle at a revision; 0 means that there is none. The error has code 409 if
// another bundle was stored meanwhile.
func (s *Store) Put(ctx context.Context, b bundle.Statement, raw []byte, at uint64) (revision uint64, err error) {
	if err := s.complete(ctx, b.Name, b.Use, at); err != nil {
		return 0, err
	}
	revision, err = s.bucket.Update(ctx, newest(b.Name, b.Use), raw, at)
	if errors.Is(err, natsx.ErrRevision) {
		return 0, Conflict(b.Name)
	}
	if err != nil || b.Use != bundle.Enforce {
		return revision, err
	}
	if _, err := s.bucket.Put(ctx, archived(b.Name, b.Serial), raw); err != nil {
		return 0, err
	}
	if b.Serial > Kept {
		old := archived(b.Name, b.Serial-Kept)
		if e, err := s.bucket.Get(ctx, old); err == nil {
			_ = s.bucket.Remove(ctx, old, e.Revision) // after an error it stays
		}
	}
	return revision, nil
}

// complete archives the bundle at a revision, in case the router that stored it died before it
// archived it.
func (s *Store) complete(ctx context.Context, name string, use bundle.Use, at uint64) error {
	if use != bundle.Enforce || at == 0 {
		return nil
	}
	now, err := s.Get(ctx, name, use, 0)
	if err != nil || now.Revision != at {
		return err
	}
	was, err := bundle.Claimed(now.Raw)
	if err != nil {
		return nil //nolint:nilerr // nobody can roll back to it
	}
	if kept, err := s.Get(ctx, name, use, was.Serial); err != nil || kept.Raw != nil {
		return err
	}
	_, err = s.bucket.Put(ctx, archived(name, was.Serial), now.Raw)
	return err
}

// Conflict returns the error, with code 409, for a policy that was replaced meanwhile.
func Conflict(name string) error {
	return wire.Errorf(wire.Conflict, "policy %s was pushed by somebody else meanwhile: look at it, and push again", name)
}

// Names of policies may contain dots, which separate the tokens of keys, so they come last.
func newest(name string, use bundle.Use) string { return string(use) + "." + name }

func archived(name string, serial uint64) string { return fmt.Sprintf("serial.%d.%s", serial, name) }
