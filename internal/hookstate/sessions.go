package hookstate

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/sessionkey"
)

// Sessions are values of one type, one for each session or whatever else has a name,
// below one prefix of a store. A value that is not there is the zero T.
type Sessions[T any] struct {
	store  Store
	prefix string
}

// Of returns the values below a prefix. Without a store they are kept in this process.
func Of[T any](store Store, prefix string) Sessions[T] {
	if store == nil {
		store = &Memory{}
	}
	return Sessions[T]{store, prefix}
}

// Get reads a session's value.
func (s Sessions[T]) Get(ctx context.Context, session string) (T, error) {
	raw, err := s.store.Get(ctx, s.key(session))
	if err != nil {
		var none T
		return none, err
	}
	return decode[T](raw)
}

// Update changes a session's value at once. change reports whether it changed it, and
// is called again where somebody else was faster.
func (s Sessions[T]) Update(ctx context.Context, session string, change func(*T) (changed bool)) error {
	return s.store.Update(ctx, s.key(session), func(old []byte) ([]byte, error) {
		value, err := decode[T](old)
		if err != nil {
			return nil, err
		}
		if !change(&value) {
			return nil, ErrUnchanged
		}
		return json.Marshal(value)
	})
}

// Forget removes a session's value.
func (s Sessions[T]) Forget(ctx context.Context, session string) error {
	return s.store.Update(ctx, s.key(session), func([]byte) ([]byte, error) { return nil, nil })
}

// Each calls yield with all values, in no order, until it returns false. Values that
// can't be read are passed over.
func (s Sessions[T]) Each(ctx context.Context, yield func(T) bool) error {
	return s.store.Under(ctx, s.prefix, func(_ string, raw []byte) bool {
		value, err := decode[T](raw)
		return err != nil || yield(value)
	})
}

// key is where a session's value stands: ids hold characters that keys do not.
func (s Sessions[T]) key(session string) string {
	return s.prefix + "." + sessionkey.Digest(session)
}

func decode[T any](raw []byte) (value T, err error) {
	if raw == nil {
		return value, nil
	}
	if err := json.Unmarshal(raw, &value); err != nil {
		return value, fmt.Errorf("read what is remembered: %w", err)
	}
	return value, nil
}
