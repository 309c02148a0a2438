package bucket

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/natsx"
)

// Limits of a [Store]; [hookstate.MaxValue] is another.
const (
	// maxAge is the time after the last write at which a value expires. It removes sessions that never
	// reported their end.
	maxAge = 24 * time.Hour

	patience = 2 * time.Second // timeout of one call: less than a hook's timeout, so that the hook can report the failure
	tries    = 50              // attempts of a write that conflicts with writes of other processes
)

// Options returns the configuration of the bucket. 0 replicas means three on a cluster with at
// least three servers, otherwise one.
func Options(prefix string, replicas int) natsx.BucketOptions {
	return natsx.BucketOptions{
		Name: prefix + "_hookstate", Description: "what hooks of hook-worker remember of sessions", Replicas: replicas,
		MaxAge: maxAge, LeaderReads: true, MarkerTTL: time.Second,
		Hint: "The operator's reference says who makes it, under What hooks remember",
	}
}

// Store is a store in a NATS bucket, which all replicas of a worker share. It opens the bucket at
// the first use, and creates it if it is missing and the connection has the permission. A worker
// whose hooks have no state needs no permission for the bucket. Call [Store.Close].
//
// A read returns all writes of any process that completed before it. A failed update may still have
// been stored. Each call takes at most about two seconds, plus the time to connect to NATS.
type Store struct {
	connect func() (*natsx.Conn, error)
	opened  atomic.Pointer[openBucket]
	opening chan struct{} // has an element during an open or a close
	writer  writer
	clock   natsx.Clock
}

type openBucket struct {
	bus    *natsx.Conn
	bucket *natsx.Bucket
}

// New returns a store. It calls connect at the first use, and again if that failed. The Store
// closes the connection.
func New(connect func() (*natsx.Conn, error)) *Store {
	return &Store{connect: connect, opening: make(chan struct{}, 1), writer: writer{timeout: patience}}
}

// Close waits for writes in progress and disconnects. No [hookstate.Change] is called after it
// returns, unless the Store is used again.
func (b *Store) Close() {
	b.opening <- struct{}{}
	defer func() { <-b.opening }()
	b.writer.writing.Wait()
	if o := b.opened.Swap(nil); o != nil {
		o.bus.Close()
	}
}

// Get implements [hookstate.Store].
func (b *Store) Get(ctx context.Context, key string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, b.writer.timeout)
	defer cancel()
	bucket, err := b.open(ctx)
	if err != nil {
		return nil, err
	}
	e, err := bucket.Get(ctx, key)
	if errors.Is(err, natsx.ErrNoKey) {
		return nil, nil
	}
	return e.Value, unavailable(err)
}

// Update implements [hookstate.Store].
func (b *Store) Update(ctx context.Context, key string, change hookstate.Change) error {
	ctx, cancel := context.WithTimeout(ctx, b.writer.timeout)
	defer cancel()
	bucket, err := b.open(ctx)
	if err != nil {
		return err
	}
	return b.writer.update(ctx, bucket, key, change)
}

// Under implements [hookstate.Store]. It reads the values one by one.
func (b *Store) Under(ctx context.Context, prefix string, yield func(key string, value []byte) bool) error {
	ctx, cancel := context.WithTimeout(ctx, b.writer.timeout)
	defer cancel()
	bucket, err := b.open(ctx)
	if err != nil {
		return err
	}
	return unavailable(bucket.Under(ctx, prefix, func(e natsx.Entry) bool { return yield(e.Key, e.Value) }))
}

func (b *Store) open(ctx context.Context) (*natsx.Bucket, error) {
	if o := b.opened.Load(); o != nil {
		return o.bucket, nil
	}
	select {
	case b.opening <- struct{}{}:
		defer func() { <-b.opening }()
	case <-ctx.Done():
		return nil, unavailable(ctx.Err())
	}
	if o := b.opened.Load(); o != nil {
		return o.bucket, nil
	}
	connected, err := b.connect()
	if err != nil {
		return nil, unavailable(err)
	}
	bucket, err := connected.OpenBucket(ctx, Options(connected.Prefix(), 0))
	if err != nil {
		connected.Close()
		return nil, unavailable(err)
	}
	b.opened.Store(&openBucket{connected, bucket})
	return bucket, nil
}

func unavailable(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the state of hooks can't be reached: %w", err)
}
