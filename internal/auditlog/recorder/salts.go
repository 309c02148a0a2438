package recorder

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"strings"
	"sync"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// Limits of the salts in memory.
const (
	maxSalts   = 8192  // sessions; a forgotten one gets a new salt
	maxUnsaved = 65536 // salts waiting to be stored
)

// Salts keeps the salts of sessions. It is safe for concurrent use. [Salts.Run] stores them.
type Salts struct {
	bucket *natsx.Bucket
	log    *slog.Logger

	mu      sync.Mutex // guards the fields below
	young   map[string]salt
	old     map[string]salt // the previous generation
	unsaved []salt
	wake    chan struct{}
}

// salt precedes the data in a digest.
type salt struct {
	id    string // its key in the bucket
	value []byte
}

// SaltBucket returns the configuration of the bucket of salts.
func SaltBucket(prefix string, replicas int) natsx.BucketOptions {
	return natsx.BucketOptions{
		Name: prefix + "_salts", Description: "salts of the digests in the audit log; may be emptied", Replicas: replicas,
	}
}

// NewSalts returns salts that are stored in bucket. log may be nil.
func NewSalts(bucket *natsx.Bucket, log *slog.Logger) *Salts {
	log = cmp.Or(log, slog.New(slog.DiscardHandler))
	return &Salts{bucket: bucket, log: log, young: map[string]salt{}, wake: make(chan struct{}, 1)}
}

// SaltKey returns the prefix of the keys of a session's salts in the bucket.
func SaltKey(session string) string {
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(sum[:16])
}

// of returns the salt of a session, or a new one if this process has none for it.
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
	s.young[strings.Clone(session)] = known // cloned, since a substring would keep the whole message in memory
	return known
}

// Run stores salts until ctx ends. Digests with a salt that can't be stored are meaningless, as if
// the salt had been removed.
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
