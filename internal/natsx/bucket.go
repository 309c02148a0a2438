package natsx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// ErrRevision means that another client wrote the key in the meantime.
var ErrRevision = errors.New("written by someone else meanwhile")

// defaultMarkerTTL is the default of [BucketOptions.MarkerTTL]. A follower that was away for longer
// starts again from the beginning.
const defaultMarkerTTL = time.Hour

// Bucket is a key-value bucket. A read may be stale, so decide with a write, which names the
// revision that it replaces.
type Bucket struct {
	conn      *Conn
	kv        jetstream.KeyValue
	name      string
	markerTTL time.Duration
}

// Entry is a value of a key in the bucket's log.
type Entry struct {
	Key      string
	Value    []byte // nil if the key was deleted
	Revision uint64 // position in the bucket's log
	Last     bool   // it was the end of the log when sent
}

// BucketOptions configure a bucket.
type BucketOptions struct {
	// Name and Description are those of the bucket.
	Name, Description string
	// Replicas is the number of replicas; 0 means three on a cluster that has them, else one.
	Replicas int
	// MaxAge is how long a key is kept after its last write; 0 means forever.
	MaxAge time.Duration
	// LeaderReads makes every Get ask the stream's leader, which has all acknowledged writes.
	LeaderReads bool
	// MarkerTTL is how long the marker of a deleted key is kept, at least a second; 0 means an
	// hour, which suits buckets that have followers.
	MarkerTTL time.Duration
	// Hint says, in a sentence, who creates the bucket if this user may not; empty means hookctl
	// audit bootstrap.
	Hint string
}

func (o BucketOptions) markerTTL() time.Duration { return cmp.Or(o.MarkerTTL, defaultMarkerTTL) }

// OpenBucket opens a bucket, or creates a missing one.
func (c *Conn) OpenBucket(ctx context.Context, o BucketOptions) (*Bucket, error) {
	kv, err := c.openBucket(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w (is JetStream enabled, and may this account use it? %s)", o.Name, c.explain(err),
			cmp.Or(o.Hint, "An operator can create what is missing with `hookctl audit bootstrap --prefix "+c.Prefix()+"`"))
	}
	return &Bucket{c, kv, o.Name, o.markerTTL()}, nil
}

func (c *Conn) openBucket(ctx context.Context, o BucketOptions) (jetstream.KeyValue, error) {
	kv, err := c.js.KeyValue(ctx, o.Name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		config := jetstream.KeyValueConfig{
			Bucket: o.Name, Description: o.Description, TTL: o.MaxAge, Storage: jetstream.FileStorage, LimitMarkerTTL: o.markerTTL(),
		}
		kv, err = replicate(ctx, c, o.Replicas, func(replicas int) (jetstream.KeyValue, error) {
			config.Replicas = replicas
			kv, err := c.js.CreateKeyValue(ctx, config)
			if errors.Is(err, jetstream.ErrBucketExists) {
				return c.js.KeyValue(ctx, o.Name)
			}
			return kv, err
		})
	}
	if err != nil || !o.LeaderReads {
		return kv, err
	}
	return c.withLeaderReads(ctx, o.Name)
}

// withLeaderReads turns off direct gets before it opens the bucket. Replicas that lag may answer
// these, and the client library turns them on for every bucket that it creates. A handle opened
// earlier would continue to send direct gets, which then get no answer.
func (c *Conn) withLeaderReads(ctx context.Context, name string) (jetstream.KeyValue, error) {
	stream, err := c.js.Stream(ctx, bucketStreamName(name))
	if err != nil {
		return nil, err
	}
	if config := stream.CachedInfo().Config; config.AllowDirect {
		config.AllowDirect = false
		if _, err := c.js.UpdateStream(ctx, config); err != nil {
			return nil, err
		}
	}
	return c.js.KeyValue(ctx, name)
}

// replicate creates something with the given number of replicas; 0 means three on a cluster and one
// elsewhere. The leader of a cluster that has just started may not know its peers yet, so it tries
// three for a while before it uses one.
func replicate[T any](ctx context.Context, c *Conn, replicas int, create func(replicas int) (T, error)) (T, error) {
	if replicas > 0 || c.nc.ConnectedClusterName() == "" {
		return create(max(replicas, 1))
	}
	created, err := create(3)
	for try := 0; err != nil && try < 10; try++ {
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return created, ctx.Err()
		}
		created, err = create(3)
	}
	if err != nil {
		c.log.Warn("cluster cannot keep three replicas; using one", "error", err)
		return create(1)
	}
	return created, nil
}

// ErrNoKey means that a bucket or a stream has no such key or message.
var ErrNoKey = errors.New("it is not there")

// Get reads a key. The error is [ErrNoKey] if it does not exist. The value may be stale,
// unless the bucket has LeaderReads.
func (k *Bucket) Get(ctx context.Context, key string) (Entry, error) {
	e, err := k.kv.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return Entry{}, ErrNoKey
	}
	if err != nil {
		return Entry{}, k.wrap("read", key, err)
	}
	return Entry{Key: key, Value: e.Value(), Revision: e.Revision()}, nil
}

// Create writes a key that does not exist. The store drops the key after ttl; 0 means never. The
// error is [ErrRevision] if the key exists.
func (k *Bucket) Create(ctx context.Context, key string, value []byte, ttl time.Duration) (uint64, error) {
	var options []jetstream.KVCreateOpt
	if ttl > 0 {
		options = append(options, jetstream.KeyTTL(ttl.Round(time.Second)))
	}
	rev, err := k.kv.Create(ctx, key, value, options...)
	return rev, k.wrap("write", key, err)
}

// Last returns the revision of the newest write to the bucket.
func (k *Bucket) Last(ctx context.Context) (uint64, error) {
	stream, err := k.conn.bucketStream(ctx, k.name)
	if err != nil {
		return 0, err
	}
	return stream.CachedInfo().State.LastSeq, nil
}

// Put writes a key unconditionally and returns the new revision.
func (k *Bucket) Put(ctx context.Context, key string, value []byte) (uint64, error) {
	rev, err := k.kv.Put(ctx, key, value)
	return rev, k.wrap("write", key, err)
}

// Update writes a key that is at the given revision, 0 for a key that does not exist, and returns
// the new revision. The error is [ErrRevision] if the key is at another revision.
func (k *Bucket) Update(ctx context.Context, key string, value []byte, at uint64) (uint64, error) {
	var rev uint64
	var err error
	if at == 0 {
		rev, err = k.kv.Create(ctx, key, value)
	} else {
		rev, err = k.kv.Update(ctx, key, value, at)
	}
	return rev, k.wrap("write", key, err)
}

// UpdateFor is Update for an existing key, which the store drops after ttl.
func (k *Bucket) UpdateFor(ctx context.Context, key string, value []byte, at uint64, ttl time.Duration) error {
	_, err := k.conn.js.Publish(ctx, "$KV."+k.name+"."+key, value, jetstream.WithExpectLastSequencePerSubject(at), jetstream.WithMsgTTL(max(ttl.Round(time.Second), time.Second)))
	return k.wrap("write", key, err)
}

// Remove deletes a key that is at the given revision. The error is [ErrRevision] if it is at
// another.
func (k *Bucket) Remove(ctx context.Context, key string, at uint64) error {
	err := k.kv.Purge(ctx, key, jetstream.LastRevision(at), jetstream.PurgeTTL(k.markerTTL))
	return k.wrap("remove", key, err)
}

func (k *Bucket) wrap(verb, key string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrKeyExists), errors.Is(err, jetstream.ErrKeyRevisionMismatch), wrongSequence(err):
		return ErrRevision
	}
	return fmt.Errorf("%s %s in bucket %s: %w", verb, key, k.name, mapError(err))
}
