package hookstate

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"
)

// Memory is a store in one process. The zero Memory is empty and ready for use.
type Memory struct {
	mu     sync.Mutex // guards values; held while a Change runs, which must not block
	values map[string][]byte
}

// Get implements [Store].
func (m *Memory) Get(_ context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return bytes.Clone(m.values[key]), nil
}

// Update implements [Store].
func (m *Memory) Update(_ context.Context, key string, change Change) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, err := change(bytes.Clone(m.values[key]))
	switch {
	case errors.Is(err, ErrUnchanged):
		return nil
	case err != nil:
		return err
	case value == nil:
		delete(m.values, key)
		return nil
	case m.values == nil:
		m.values = map[string][]byte{}
	}
	m.values[key] = bytes.Clone(value)
	return nil
}

// Now implements [Store].
func (m *Memory) Now(context.Context) (time.Time, error) { return time.Now(), nil }

// Under implements [Store].
func (m *Memory) Under(_ context.Context, prefix string, yield func(key string, value []byte) bool) error {
	m.mu.Lock()
	values := maps.Clone(m.values)
	m.mu.Unlock()
	for key, value := range values {
		if strings.HasPrefix(key, prefix+".") && !yield(key, bytes.Clone(value)) {
			return nil
		}
	}
	return nil
}

// Len returns the number of values.
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.values)
}
