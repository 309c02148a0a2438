package recorder

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"sync"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// Bounds of the salts that a process knows.
const (
	maxSalts   = 8192  // sessions; one that was forgotten gets another salt
	maxUnsaved = 65536 // salts that wait to be stored
)

// Salts are the salts of sessions. Run them. They are safe for concurrent use.
type Salts struct {
	bucket *natsx.Bucket
	log    *slog.Logger

	mu      sync.Mutex // guards what follows
	young   map[string]salt
	old     map[string]salt // the generation before
	unsaved []salt
	wake    chan struct{}
}

// salt is what stands before data in a digest.
type salt struct {
	id    string // its key in the bucket
	value []byte
}

// SaltBucket says how the bucket of salts is made.
func SaltBucket(prefix string, replicas int) natsx.BucketOptions {
	return natsx.BucketOptions{
		Name: prefix + "_salts", Description: "salts of the digests in the audit log; may be emptied", Replicas: replicas,
	}
}

// NewSalts makes salts on their bucket. log may be nil.
func NewSalts(bucket *natsx.Bucket, log *slog.Logger) *Salts {
	log = cmp.Or(log, slog.New(slog.DiscardHandler))
	return &Salts{bucket: bucket, log: log, young: map[string]salt{}, wake: make(chan struct{}, 1)}
}

// SaltKey is what the keys of a session's salts begin with, in the bucket.
func SaltKey(session string) string {
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(sum[:16])
}

// of is the salt of a session, a new one where it has none here.
func (s *Salts) of(session string) salt {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.young[session]; ok {
		return known
	}
	if len(s.young) >= maxSalts {
		s.old, s.young = s.young, map[string]salt{}
	}
	known, ok := s.old[session]
	if !ok {
		var random [24]byte
		_, _ = rand.Read(random[:]) // never fails
		known = salt{SaltKey(session) + "." + hex.EncodeToString(random[:8]), random[8:]}
		if len(s.unsaved) < maxUnsaved {
			s.unsaved = append(s.unsaved, known)
		}
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
	s.young[session] = known
	return known
}

// Run stores salts until ctx ends. A salt that could not be stored makes its digests
// mean nothing, as if it had been erased.
func (s *Salts) Run(ctx context.Context) {
	for {
		select {
		case <-s.wake:
		case <-ctx.Done():
			return
		}
		s.mu.Lock()
		list := s.unsaved
		s.unsaved = nil
		s.mu.Unlock()
		failed := 0
		for _, one := range list {
			saving, cancel := context.WithTimeout(ctx, tryTime)
			if _, err := s.bucket.Put(saving, one.id, one.value); err != nil {
				failed++
			}
			cancel()
		}
		if failed > 0 {
			s.log.Warn("salts not stored; digests of some sessions cannot be checked later", "salts", failed)
		}
	}
}
