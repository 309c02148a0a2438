package hookstate

import (
	"context"
	"errors"
	"time"
)

// Change says what becomes of a value; nil stands for one that is not there, as old
// and as new. It may be called several times, and keeps nothing of old. Its error ends
// the update.
type Change func(old []byte) ([]byte, error)

// ErrUnchanged ends an update that has nothing to write; the update itself is then
// well.
var ErrUnchanged = errors.New("nothing to write")

// MaxValue bounds a value, in bytes.
const MaxValue = 64 << 10

// Store keeps values by key, of at most [MaxValue]. Keys are tokens of letters, digits,
// "-", "_" and "=", joined by dots.
type Store interface {
	// Get reads a value; nil where there is none.
	Get(ctx context.Context, key string) ([]byte, error)
	// Update changes a value atomically: no change is lost.
	Update(ctx context.Context, key string, change Change) error
	// Now is the time for all who share the store, whatever their own clocks say.
	Now(ctx context.Context) (time.Time, error)
	// Under calls yield with what is kept below a prefix ("naming" for "naming.s1"), in
	// no order, until it returns false.
	Under(ctx context.Context, prefix string, yield func(key string, value []byte) bool) error
}
