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
	// maxAge is how long a value is kept after it was last written: a session that
	// never said that it ended is forgotten then.
	maxAge = 24 * time.Hour

	patience = 2 * time.Second // of one call: less than a hook's timeout, so that its failure is reported in time
	tries    = 50              // how often a write is retried because another process wrote meanwhile
)

// Options say how the bucket of states is made. replicas 0 means three on a cluster
// that has them, else one.
func Options(prefix string, replicas int) natsx.BucketOptions {
	return natsx.BucketOptions{
		Name: prefix + "_hookstate", Description: "what hooks of hook-worker remember of sessions", Replicas: replicas,
		MaxAge: maxAge, LeaderReads: true, MarkerTTL: time.Second,
		Hint: "The operator's reference says who makes it, under What hooks remember",
	}
}

// Store is a store that all replicas of a worker share: a bucket of NATS. It is opened
// when it is first used, and made where it is missing and the connection may do so; a
// worker whose hooks remember nothing needs no right to it. Close it.
//
// A read returns every write that ended before it, of any process. An update that fails may
// have been stored all the same. Each call takes some two seconds at most, besides what NATS
// takes to connect.
type Store struct {
	connect func() (*natsx.Conn, error)
	opened  atomic.Pointer[openBucket]
	opening chan struct{} // holds an element during an open or a close
	writer  writer
	clock   natsx.Clock
}

type openBucket struct {
	bus    *natsx.Conn
	bucket *natsx.Bucket
}

// New makes a store of the bucket on a bus. connect is called when it is first
// used, and again where that failed; the bus is the Store's to close.
func New(connect func() (*natsx.Conn, error)) *Store {
	return &Store{connect: connect, opening: make(chan struct{}, 1), writer: writer{timeout: patience}}
}

// Close disconnects. Nothing is called any more, then or afterwards.
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

// Under implements [hookstate.Store]. It asks for one value after the other.
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
