package session

import "sync"

// maxUsages bounds each of the two maps of [usages].
const maxUsages = 50_000

// usage is what a replica caches of a state.
type usage struct {
	used     int
	revision uint64
}

// usages caches the usage of the sessions that were written last, at least [maxUsages] of them:
// agents choose session ids, and no session has to end. The zero value is empty.
type usages struct {
	mu         sync.RWMutex // guards what follows
	young, old map[string]usage
}

// set caches the usage of a key, unless a newer one is known.
func (u *usages) set(key string, now usage) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if now.revision <= u.get(key).revision {
		return
	}
	if now.used == 0 { // a session that is not cached has used nothing
		delete(u.young, key)
		delete(u.old, key)
		return
	}
	if u.young == nil || len(u.young) >= maxUsages {
		u.young, u.old = map[string]usage{}, u.young
	}
	u.young[key] = now
}

// of returns the used tokens of a key, 0 for one that is not cached.
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
