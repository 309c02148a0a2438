package telemetry

import (
	"strings"
	"sync"

	"github.com/hookrouter/hookrouter/internal/shorten"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Limits of label sets. Values beyond them count as [Other].
const (
	maxEvents = 100  // names of events, including the standard ones
	maxHooks  = 1000 // ids of hooks
	maxPairs  = 2000 // pairs of an event and a hook, or of an agent's class and an event
	maxAgents = 100  // classes of agents
)

// words is a bounded set of labels. It is safe for concurrent use.
type words struct{ known *table[string, string] }

func newWords(limit int, first ...string) words {
	w := words{newTable(limit, Other, func(word string) string { return word })}
	for _, word := range first {
		w.label(word)
	}
	return w
}

// label returns word, or [Other] if the set is full.
func (w words) label(word string) string { return w.known.get(word, strings.Clone) }

// standardEvents returns the names that have labels from the start.
func standardEvents() []string {
	list := []string{}
	for _, info := range events.Catalog() {
		list = append(list, info.Name)
		list = append(list, info.Aliases...)
	}
	return list
}

// table caches a value for each key up to a limit, so that events do not allocate values. It is
// safe for concurrent use.
type table[K comparable, V any] struct {
	limit int
	make  func(K) V
	rest  V // for keys beyond the limit
	mu    sync.RWMutex
	known map[K]V // guarded by mu
}

func newTable[K comparable, V any](limit int, rest V, make func(K) V) *table[K, V] {
	return &table[K, V]{limit: limit, make: make, rest: rest, known: map[K]V{}}
}

// get returns the value of a key. own clones the key's strings, so that the table can keep them.
func (t *table[K, V]) get(key K, own func(K) K) V {
	t.mu.RLock()
	v, known := t.known[key]
	full := len(t.known) >= t.limit
	t.mu.RUnlock()
	switch {
	case known:
		return v
	case full:
		return t.rest
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if v, known := t.known[key]; known {
		return v
	}
	if len(t.known) >= t.limit {
		return t.rest
	}
	key = own(key)
	v = t.make(key)
	t.known[key] = v
	return v
}

// classOf returns the class of an agent: its CloudEvents source without the part that identifies
// the instance, which follows the first part of a path, the host of a URL, or the namespace of a
// URN. It is truncated, since agents choose it.
func classOf(source string) string {
	return shorten.Bytes(wholeClass(source), maxClass, "…")
}

// maxClass is the maximum length of an agent's class, in bytes.
const maxClass = 64

func wholeClass(source string) string {
	rest, prefix := source, ""
	if i := strings.Index(source, "://"); i >= 0 {
		prefix, rest = source[:i+3], source[i+3:]
		rest, _, _ = strings.Cut(rest, "/")
		if at := strings.LastIndexByte(rest, '@'); at >= 0 {
			rest = rest[at+1:]
		}
		return prefix + rest
	}
	if strings.HasPrefix(source, "urn:") {
		if space, _, more := strings.Cut(source[4:], ":"); more {
			return source[:4+len(space)]
		}
		return source
	}
	lead := 0
	if strings.HasPrefix(source, "/") {
		lead = 1
	}
	if i := strings.IndexAny(source[lead:], "/?#"); i >= 0 {
		return source[:lead+i]
	}
	return source
}
