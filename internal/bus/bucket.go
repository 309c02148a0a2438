package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// ErrRevision means that a key was written by someone else meanwhile.
var ErrRevision = errors.New("written by someone else meanwhile")

// markerTTL is how long the store keeps the mark of a removed key. Nobody
// follows a bucket from further back: a follower that was away begins anew.
const markerTTL = time.Hour

// Bucket is a key-value bucket. Decisions are made by writing, never by reading:
// a write names the revision it follows, and a read may be stale.
type Bucket struct {
	kv   jetstream.KeyValue
	name string
}

// Entry is one value of a key as the bucket's log has it.
type Entry struct {
	Key      string
	Value    []byte // nil where the key was removed
	Revision uint64 // its place in the bucket's log
	Last     bool   // nothing stood behind it in the log when it was sent
}

// OpenBucket opens a bucket and creates it where it is missing, with so many
// replicas; 0 means three on a cluster that has them, else one.
func (b *Bus) OpenBucket(ctx context.Context, name string, replicas int) (*Bucket, error) {
	js, err := jetstream.New(b.conn)
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", name, err)
	}
	kv, err := js.KeyValue(ctx, name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		kv, err = b.createBucket(ctx, js, name, replicas)
	}
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w (is JetStream enabled, and may this account use it?)", name, err)
	}
	return &Bucket{kv, name}, nil
}

// createBucket makes a bucket. On a cluster that has just started the leader may
// not know its peers yet; so three replicas are tried for a while before one is
// taken for what there is.
func (b *Bus) createBucket(ctx context.Context, js jetstream.JetStream, name string, replicas int) (jetstream.KeyValue, error) {
	config := jetstream.KeyValueConfig{
		Bucket: name, Description: "hook registrations", Replicas: max(replicas, 1),
		Storage: jetstream.FileStorage, LimitMarkerTTL: markerTTL,
	}
	clustered := replicas == 0 && b.conn.ConnectedClusterName() != ""
	if clustered {
		config.Replicas = 3
	}
	kv, err := js.CreateKeyValue(ctx, config)
	for try := 0; clustered && err != nil && !errors.Is(err, jetstream.ErrBucketExists) && try < 10; try++ {
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		kv, err = js.CreateKeyValue(ctx, config)
	}
	if clustered && err != nil && !errors.Is(err, jetstream.ErrBucketExists) {
		b.log.Warn("the cluster can't keep three copies of the bucket: one it is", "bucket", name, "error", err)
		config.Replicas = 1
		kv, err = js.CreateKeyValue(ctx, config)
	}
	if errors.Is(err, jetstream.ErrBucketExists) {
		return js.KeyValue(ctx, name)
	}
	return kv, err
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
	err := k.kv.Purge(ctx, key, jetstream.LastRevision(at), jetstream.PurgeTTL(markerTTL))
	return k.wrap("remove", key, err)
}

func (k *Bucket) wrap(verb, key string, err error) error {
	var api *jetstream.APIError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrKeyExists), errors.Is(err, jetstream.ErrKeyRevisionMismatch):
		return ErrRevision
	case errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == 10164):
		return ErrRevision
	}
	return fmt.Errorf("%s %s in bucket %s: %w", verb, key, k.name, err)
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
		for more := true; more && open; {
			select {
			case e, ok := <-watcher.Updates():
				batch, open = add(batch, e, &loaded), ok
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
