package bucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/natsx"
)

// writer writes the changes of one process. It combines concurrent changes of a key into one write,
// so that the process competes for the key only with other processes. The zero writer is ready for
// use.
type writer struct {
	timeout time.Duration // timeout of one write

	mu      sync.Mutex              // guards waiting
	waiting map[string][]*oneChange // by key; the key is present while a goroutine writes it
	writing sync.WaitGroup
}

// oneChange is a pending change.
type oneChange struct {
	change hookstate.Change
	done   chan error // receives the outcome; capacity 1
}

// update writes a change, possibly together with others. The change is not called after it returns.
func (w *writer) update(ctx context.Context, bucket *natsx.Bucket, key string, change hookstate.Change) error {
	c := &oneChange{change, make(chan error, 1)}
	w.mu.Lock()
	waiting, busy := w.waiting[key]
	if w.waiting == nil {
		w.waiting = map[string][]*oneChange{}
	}
	w.waiting[key] = append(waiting, c)
	if !busy {
		w.writing.Go(func() { w.run(bucket, key) }) //nolint:contextcheck // a write for several callers has its own timeout
	}
	w.mu.Unlock()
	select {
	case err := <-c.done:
		return err
	case <-ctx.Done():
	}
	if w.withdraw(key, c) {
		return unavailable(ctx.Err())
	}
	return <-c.done // the write is in progress, for at most the timeout
}

func (w *writer) withdraw(key string, c *oneChange) (withdrawn bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.Index(w.waiting[key], c); i >= 0 {
		w.waiting[key] = slices.Delete(w.waiting[key], i, i+1)
		return true
	}
	return false
}

// run writes the pending changes of a key until there are none.
func (w *writer) run(bucket *natsx.Bucket, key string) {
	for {
		w.mu.Lock()
		batch := w.waiting[key]
		if len(batch) == 0 {
			delete(w.waiting, key)
			w.mu.Unlock()
			return
		}
		w.waiting[key] = nil
		w.mu.Unlock()
		for i, err := range write(bucket, key, batch, w.timeout) {
			batch[i].done <- err
		}
	}
}

// write writes a batch and returns the outcome of each change.
func write(bucket *natsx.Bucket, key string, batch []*oneChange, timeout time.Duration) []error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	var failed error
	for try := range tries {
		var outcomes []error
		outcomes, failed = writeOnce(ctx, bucket, key, batch)
		if failed == nil {
			return outcomes
		}
		if !errors.Is(failed, natsx.ErrRevision) {
			break
		}
		select {
		case <-time.After(rand.N(time.Duration(try+1) * time.Millisecond)): //nolint:gosec // jitter, no secret
		case <-ctx.Done():
		}
	}
	return slices.Repeat([]error{unavailable(failed)}, len(batch))
}

// writeOnce makes one attempt to write a batch. It returns the errors of the changes, and the error
// of the write, after which the changes may or may not be stored. After [natsx.ErrRevision] they
// are not: another process wrote first.
func writeOnce(ctx context.Context, bucket *natsx.Bucket, key string, batch []*oneChange) (outcomes []error, failed error) {
	e, err := bucket.Get(ctx, key)
	if err != nil && !errors.Is(err, natsx.ErrNoKey) {
		return nil, err
	}
	value, changed := e.Value, false
	for _, c := range batch {
		next, err := c.change(bytes.Clone(value))
		if err == nil && len(next) > hookstate.MaxValue {
			err = fmt.Errorf("the state of a session has %d bytes: at most %d are kept", len(next), hookstate.MaxValue)
		}
		if err == nil {
			value, changed = next, true
		}
		if errors.Is(err, hookstate.ErrUnchanged) {
			err = nil
		}
		outcomes = append(outcomes, err)
	}
	switch {
	case !changed, value == nil && e.Value == nil:
		return outcomes, nil
	case value == nil:
		return outcomes, bucket.Remove(ctx, key, e.Revision)
	default:
		_, err := bucket.Update(ctx, key, value, e.Revision)
		return outcomes, err
	}
}
