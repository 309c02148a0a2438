package hookstate

import (
	"context"
	"errors"
	"time"
)

// Change returns the new value for an old one; nil means a missing value in both cases. It may be
// called several times, and must not retain old. An error aborts the update.
type Change func(old []byte) ([]byte, error)

// ErrUnchanged is returned by a [Change] that has nothing to write. The update then succeeds.
var ErrUnchanged = errors.New("nothing to write")

// MaxValue limits a value, in bytes.
const MaxValue = 64 << 10

// Store stores values of at most [MaxValue] by key. Keys are tokens of letters, digits, "-", "_"
// and "=", joined by dots.
type Store interface {
	// Get returns a value; nil if there is none.
	Get(ctx context.Context, key string) ([]byte, error)
	// Update changes a value atomically, without lost updates.
	Update(ctx context.Context, key string, change Change) error
	// Now returns the time of the store, which is the same for all processes that share it.
	Now(ctx context.Context) (time.Time, error)
	// Under calls yield with the values below a prefix ("naming" for "naming.s1") in no particular
	// order until it returns false.
	Under(ctx context.Context, prefix string, yield func(key string, value []byte) bool) error
}
