package hookstate

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/sessionkey"
)

// Sessions are values of one type, one for each session or other name, below a prefix in a store. A
// missing value is the zero T.
type Sessions[T any] struct {
	store   Store
	prefix  string
	senders *senders // nil for no limit
	by      string   // the sender of names without one; empty for none
}

// Of returns the values below a prefix. A nil store means a new [Memory].
func Of[T any](store Store, prefix string) Sessions[T] {
	switch store.(type) {
	case nil:
		return Sessions[T]{store: &Memory{}, prefix: prefix}
	case *Memory: // not shared with other processes: no limit needed
		return Sessions[T]{store: store, prefix: prefix}
	}
	return Sessions[T]{store: store, prefix: prefix, senders: &senders{}}
}

// By returns the values with a limit for names without a sender, which several senders share: new
// ones count towards the [MaxNew] of the given sender.
func (s Sessions[T]) By(sender string) Sessions[T] {
	s.by = "by " + sender
	return s
}

// senderOf returns the sender to which a new session counts: its name up to a line break, or else
// the sender of [Sessions.By]; empty if there is none. Senders are authenticated or share one name,
// so there are few.
func (s Sessions[T]) senderOf(session string) string {
	if sender, _, known := strings.Cut(session, "\n"); known {
		return "of " + sender
	}
	return s.by
}

// Now returns the time of the store, which is the same for all processes that share it.
func (s Sessions[T]) Now(ctx context.Context) (time.Time, error) { return s.store.Now(ctx) }

// Get returns a session's value.
func (s Sessions[T]) Get(ctx context.Context, session string) (T, error) {
	raw, err := s.store.Get(ctx, s.key(session))
	if err != nil {
		var none T
		return none, err
	}
	return decode[T](raw)
}

// Update changes a session's value atomically. change reports whether it changed the value, and is
// called again if another writer was first. The name of a session is "sender\nid"; [MaxNew] limits
// the new sessions of a sender.
func (s Sessions[T]) Update(ctx context.Context, session string, change func(*T) (changed bool)) error {
	begins := false
	err := s.store.Update(ctx, s.key(session), func(old []byte) ([]byte, error) {
		begins = false
		value, err := decode[T](old)
		if err != nil {
			return nil, err
		}
		if !change(&value) {
			return nil, ErrUnchanged
		}
		if old == nil {
			begins = true
			if err := s.senders.check(s.senderOf(session)); err != nil {
				return nil, err
			}
		}
		return json.Marshal(value)
	})
	if err == nil && begins {
		s.senders.add(s.senderOf(session), 1)
	}
	return err
}

// Forget removes a session's value.
func (s Sessions[T]) Forget(ctx context.Context, session string) error {
	ends := false
	err := s.store.Update(ctx, s.key(session), func(old []byte) ([]byte, error) {
		ends = old != nil
		return nil, nil
	})
	if err == nil && ends {
		s.senders.add(s.senderOf(session), -1)
	}
	return err
}

// Each calls yield with all values in no particular order until it returns false. It skips values
// that can't be decoded.
func (s Sessions[T]) Each(ctx context.Context, yield func(T) bool) error {
	return s.store.Under(ctx, s.prefix, func(_ string, raw []byte) bool {
		value, err := decode[T](raw)
		return err != nil || yield(value)
	})
}

// key returns the key of a session's value. It contains a digest, since ids may have characters
// that keys can't have.
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
