package natsx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// ErrRevision means that a key was written by someone else meanwhile.
var ErrRevision = errors.New("written by someone else meanwhile")

// markerTTL is how long the store keeps the mark of a removed key, where the options
// don't say. Nobody follows a bucket from further back: a follower that was away begins
// anew.
const markerTTL = time.Hour

// Bucket is a key-value bucket. Decisions are made by writing, never by reading:
// a write names the revision it follows, and a read may be stale.
type Bucket struct {
	kv   jetstream.KeyValue
	js   jetstream.JetStream
	name string
	mark time.Duration // how long the mark of a removed key is kept
}

// Entry is one value of a key as the bucket's log has it.
type Entry struct {
	Key      string
	Value    []byte // nil where the key was removed
	Revision uint64 // its place in the bucket's log
	Last     bool   // nothing stood behind it in the log when it was sent
}

// BucketOptions say how a bucket is made where it is missing.
type BucketOptions struct {
	// Name of the bucket, and what it is for.
	Name, Description string
	// Replicas; 0 means three on a cluster that has them, else one.
	Replicas int
	// MaxAge is how long a key is kept after its last write; 0 means for ever.
	MaxAge time.Duration
	// Fresh makes every Get ask the stream's leader: what was acknowledged is seen.
	Fresh bool
	// MarkFor is how long the mark of a removed key is kept, at least a second; 0 means
	// an hour, which is for buckets that somebody follows.
	MarkFor time.Duration
	// MadeBy says for people who makes it where it can't be made, in a sentence; empty
	// means that hookctl audit bootstrap does.
	MadeBy string
}

func (o BucketOptions) markFor() time.Duration { return cmp.Or(o.MarkFor, markerTTL) }

// OpenBucket opens a bucket and creates it where it is missing.
func (b *Conn) OpenBucket(ctx context.Context, o BucketOptions) (*Bucket, error) {
	kv, err := b.openBucket(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w (is JetStream enabled, and may this account use it? %s)", o.Name, b.why(err),
			cmp.Or(o.MadeBy, "An operator makes what is missing with `hookctl audit bootstrap --prefix "+b.Prefix()+"`"))
	}
	return &Bucket{kv, b.js, o.Name, o.markFor()}, nil
}

func (b *Conn) openBucket(ctx context.Context, o BucketOptions) (jetstream.KeyValue, error) {
	kv, err := b.js.KeyValue(ctx, o.Name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		config := jetstream.KeyValueConfig{
			Bucket: o.Name, Description: o.Description, TTL: o.MaxAge, Storage: jetstream.FileStorage, LimitMarkerTTL: o.markFor(),
		}
		kv, err = replicate(ctx, b, o.Replicas, func(replicas int) (jetstream.KeyValue, error) {
			config.Replicas = replicas
			kv, err := b.js.CreateKeyValue(ctx, config)
			if errors.Is(err, jetstream.ErrBucketExists) {
				return b.js.KeyValue(ctx, o.Name)
			}
			return kv, err
		})
	}
	if err != nil || !o.Fresh {
		return kv, err
	}
	return b.fresh(ctx, o.Name)
}

// fresh turns off the answers of replicas that may lag, which the client library
// turns on for every bucket that it makes, and opens the bucket only then: how it is
// read is settled when it is opened. One that was opened before another process turned
// them off would ask for them for ever, and hear from nobody.
func (b *Conn) fresh(ctx context.Context, name string) (jetstream.KeyValue, error) {
	stream, err := b.js.Stream(ctx, bucketStreamName(name))
	if err != nil {
		return nil, err
	}
	if config := stream.CachedInfo().Config; config.AllowDirect {
		config.AllowDirect = false
		if _, err := b.js.UpdateStream(ctx, config); err != nil {
			return nil, err
		}
	}
	return b.js.KeyValue(ctx, name)
}

// replicate makes something with three replicas on a cluster and one elsewhere,
// unless a number is asked for. On a cluster that has just started the leader may
// not know its peers yet; so three are tried for a while before one is taken for
// what there is.
func replicate[T any](ctx context.Context, b *Conn, replicas int, make func(replicas int) (T, error)) (T, error) {
	if replicas > 0 || b.conn.ConnectedClusterName() == "" {
		return make(max(replicas, 1))
	}
	made, err := make(3)
	for try := 0; err != nil && try < 10; try++ {
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return made, ctx.Err()
		}
		made, err = make(3)
	}
	if err != nil {
		b.log.Warn("the cluster can't keep three copies: one it is", "error", err)
		return make(1)
	}
	return made, nil
}

// ErrNoKey means that a bucket, or a stream, holds nothing there.
var ErrNoKey = errors.New("it is not there")

// Get reads a key. The error is [ErrNoKey] where it is not there. What it says
// may be stale, unless the bucket is Fresh.
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

// Create writes a key that is not there, for the store to drop after so long; 0
// means never. The error is [ErrRevision] where it is there.
func (k *Bucket) Create(ctx context.Context, key string, value []byte, keep time.Duration) (uint64, error) {
	var options []jetstream.KVCreateOpt
	if keep > 0 {
		options = append(options, jetstream.KeyTTL(keep.Round(time.Second)))
	}
	rev, err := k.kv.Create(ctx, key, value, options...)
	return rev, k.wrap("write", key, err)
}

// Last is the revision of the newest write to the bucket.
func (k *Bucket) Last(ctx context.Context) (uint64, error) {
	stream, err := k.js.Stream(ctx, "KV_"+k.name)
	if err != nil {
		return 0, fmt.Errorf("look at bucket %s: %w", k.name, err)
	}
	return stream.CachedInfo().State.LastSeq, nil
}

// Put writes a key whatever it held and returns the new revision.
func (k *Bucket) Put(ctx context.Context, key string, value []byte) (uint64, error) {
	rev, err := k.kv.Put(ctx, key, value)
	return rev, k.wrap("write", key, err)
}

// Update writes a key that is at the given revision, 0 for one that is not there,
// and returns the new revision. The error is [ErrRevision] where it is not.
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

// Remove removes a key that is at the given revision. The error is [ErrRevision]
// where it is not.
func (k *Bucket) Remove(ctx context.Context, key string, at uint64) error {
	err := k.kv.Purge(ctx, key, jetstream.LastRevision(at), jetstream.PurgeTTL(k.mark))
	return k.wrap("remove", key, err)
}

func (k *Bucket) wrap(verb, key string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrKeyExists), errors.Is(err, jetstream.ErrKeyRevisionMismatch), wrongSequence(err):
		return ErrRevision
	}
	return fmt.Errorf("%s %s in bucket %s: %w", verb, key, k.name, away(err))
}

// Follow calls handle with the current value of every key, loaded true from the
// call that completes them on, and then with every change, in the order of the
// log. Changes that wait are given together. It returns when ctx ends, when
// handle returns an error, or when the bucket can't be followed any more.
func (k *Bucket) Follow(ctx context.Context, handle func(batch []Entry, loaded bool) error) error {
	watcher, err := k.kv.WatchAll(ctx)
	if err != nil {
		return fmt.Errorf("follow bucket %s: %w", k.name, err)
	}
	defer func() {
		_ = watcher.Stop()
		go func() { // let go of what the library still has to give
			for range watcher.Updates() {
			}
		}()
	}()
	loaded := false
	for {
		var batch []Entry
		var open bool
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e, ok := <-watcher.Updates():
			batch, open = add(batch, e, &loaded), ok
		}
		bytes := 0
		for more := true; more && open && bytes < maxBatch; {
			select {
			case e, ok := <-watcher.Updates():
				batch, open = add(batch, e, &loaded), ok
				if len(batch) > 0 {
					bytes += len(batch[len(batch)-1].Value)
				}
			default:
				more = false
			}
		}
		if !open {
			return fmt.Errorf("follow bucket %s: the watch ended", k.name)
		}
		if err := handle(batch, loaded); err != nil {
			return err
		}
	}
}

// maxBatch bounds what is given together, in bytes of values.
const maxBatch = 4 << 20

func add(batch []Entry, e jetstream.KeyValueEntry, loaded *bool) []Entry {
	if e == nil {
		*loaded = true
		return batch
	}
	entry := Entry{Key: e.Key(), Revision: e.Revision(), Last: e.Delta() == 0}
	if e.Operation() == jetstream.KeyValuePut {
		entry.Value = e.Value()
	}
	return append(batch, entry)
}
