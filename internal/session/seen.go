package session

import "sync"

// maxUsages is the maximum size of each of the two maps in [usages].
const maxUsages = 50_000

// usage is the part of a state that a replica caches.
type usage struct {
	used     int
	revision uint64
}

// usages caches the usage of at least the last [maxUsages] sessions that were written. It is
// bounded, since agents choose session ids and need not end sessions. The zero value is empty.
type usages struct {
	mu         sync.RWMutex // guards the fields below
	young, old map[string]usage
}

// set caches the usage of a key, unless a newer one is known.
func (u *usages) set(key string, now usage) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if now.revision <= u.get(key).revision {
		return
	}
	if now.used == 0 { // no entry means that nothing was used
		delete(u.young, key)
		delete(u.old, key)
		return
	}
	if u.young == nil || len(u.young) >= maxUsages {
		u.young, u.old = map[string]usage{}, u.young
	}
	u.young[key] = now
}

// of returns the tokens used for a key; 0 if it is not cached.
func (u *usages) of(key string) int {
	u.mu.RLock()
	defer u.mu.RUnlock()
	return u.get(key).used
}

// get returns the usage of a key. The caller holds mu.
func (u *usages) get(key string) usage {
	if now, ok := u.young[key]; ok {
		return now
	}
	return u.old[key]
}

func (u *usages) empty() bool {
	u.mu.RLock()
	defer u.mu.RUnlock()
	return len(u.young)+len(u.old) == 0
}
