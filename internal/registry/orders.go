package registry

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// orders are the operators' orders of one kind, each under a key of the bucket. The follower
// applies the log to a copy and publishes it.
type orders[T order] struct {
	registry *Registry
	prefix   string // of the keys; an id follows
	// read returns the order about id after a record of the log, or after its deletion.
	read func(id string, e natsx.Entry, old T) T

	next      *map[string]T                // by id as of the log so far, immutable; for the follower only
	published atomic.Pointer[map[string]T] // swapped by the follower only
}

// order is an order or its tombstone. The zero value means that there is none.
type order interface {
	at() uint64 // the revision of its record; 0 for none
}

func newOrders[T order](r *Registry, prefix string, read func(id string, e natsx.Entry, old T) T) *orders[T] {
	o := &orders[T]{registry: r, prefix: prefix, read: read, next: &map[string]T{}}
	o.published.Store(o.next)
	return o
}

// known returns the published orders by id. They are immutable.
func (o *orders[T]) known() map[string]T { return *o.published.Load() }

// oldestFirst returns the published orders by revision.
func (o *orders[T]) oldestFirst() []T {
	return slices.SortedFunc(maps.Values(o.known()), func(a, b T) int { return cmp.Compare(a.at(), b.at()) })
}

// begin starts the follower with the given orders.
func (o *orders[T]) begin(with map[string]T) { o.next = &with }

// apply applies a batch of the log and returns the ids of its orders.
func (o *orders[T]) apply(batch []natsx.Entry) (ids []string) {
	next := *o.next
	for _, e := range batch {
		id, ok := strings.CutPrefix(e.Key, o.prefix)
		if !ok {
			continue
		}
		if ids == nil {
			next = maps.Clone(next)
			o.next = &next
		}
		ids = append(ids, id)
		if next[id] = o.read(id, e, next[id]); next[id].at() == 0 {
			delete(next, id)
		}
	}
	return ids
}

// publish publishes what was applied and reports whether it is new.
func (o *orders[T]) publish() bool { return o.published.Swap(o.next) != o.next }

// write records a change and writes the order about its hook. next gets the current order; it
// returns whether to write, and the new record, nil to remove it. write returns when every replica
// knows.
func (o *orders[T]) write(ctx context.Context, c Change, next func(old T) (write bool, body []byte, err error)) (wrote bool, err error) {
	r := o.registry
	record := r.recorder(ctx)
	err = r.update(ctx, func() (uint64, error) {
		old := o.known()[c.Hook]
		write, body, err := next(old)
		if err != nil || !write {
			return max(r.read.Load(), old.at()), err
		}
		if !wrote {
			c.Revision = old.at()
			if err := record(c); err != nil {
				return 0, err
			}
			revision, err := r.writeOrder(ctx, c, o.prefix+c.Hook, body)
			if wrote = err == nil; err != nil || body != nil {
				return revision, err
			}
		}
		return 0, natsx.ErrRevision // until this replica has read it: a removal has no revision to return
	})
	return wrote, err
}
