package registry

import (
	"context"
	"sync"
)

// turns serializes the writers of one hook in this replica. Concurrent writers would race for
// the revision and retry, so that n of them would write n² times, as when a large deployment
// restarts. The zero value is ready to use.
type turns struct {
	mu    sync.Mutex
	queue map[string]*turn // by hook
}

// turn is what the writers of one hook wait for.
type turn struct {
	free  chan struct{} // holds a token while nobody has the turn
	users int           // the holder and those who wait
}

// take waits for the turn of a hook. Call done once, unless there is an error.
func (t *turns) take(ctx context.Context, id string) (done func(), err error) {
	t.mu.Lock()
	q := t.queue[id]
	if q == nil {
		if t.queue == nil {
			t.queue = map[string]*turn{}
		}
		q = &turn{free: make(chan struct{}, 1)}
		q.free <- struct{}{}
		t.queue[id] = q
	}
	q.users++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if q.users--; q.users == 0 {
			delete(t.queue, id)
		}
	}
	if err := wait(ctx, q.free); err != nil {
		leave()
		return nil, err
	}
	return func() { q.free <- struct{}{}; leave() }, nil
}
