package natsx

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// BucketState is a bucket at one moment.
type BucketState struct {
	Replicas int
	Drift    []string // what of its settings is not as it must be; a phrase each
}

// LookBucket compares a bucket with what it must be: for operators. The error is
// [ErrNoStream] where it is missing.
func (b *Conn) LookBucket(ctx context.Context, o BucketOptions) (BucketState, error) {
	stream, err := b.bucketStream(ctx, o.Name)
	if err != nil {
		return BucketState{}, err
	}
	c := stream.CachedInfo().Config
	return BucketState{c.Replicas, driftBucket(c, o)}, nil
}

// MendBucket sets what drifted in a bucket back, as far as the server allows: for
// operators.
func (b *Conn) MendBucket(ctx context.Context, o BucketOptions) error {
	stream, err := b.bucketStream(ctx, o.Name)
	if err != nil {
		return err
	}
	c := stream.CachedInfo().Config
	c.Subjects, c.Retention, c.Discard, c.DiscardNewPerSubject = []string{bucketSubject(o.Name, ">")}, jetstream.LimitsPolicy, jetstream.DiscardNew, false
	c.MaxMsgs, c.MaxMsgsPerSubject, c.MaxMsgSize, c.MaxAge = -1, 1, -1, o.MaxAge
	c.DenyDelete, c.DenyPurge, c.AllowRollup, c.AllowMsgTTL, c.SubjectDeleteMarkerTTL = true, false, true, true, o.markFor()
	c.SubjectTransform, c.NoAck = nil, false
	if o.Fresh {
		c.AllowDirect = false
	}
	if c.MaxAge > 0 {
		c.Duplicates = min(c.Duplicates, c.MaxAge)
	}
	if _, err := b.js.UpdateStream(ctx, c); err != nil {
		return fmt.Errorf("set the settings of bucket %s back: %w", o.Name, away(err))
	}
	return nil
}

// driftBucket says in which settings a bucket differs. Where it is kept, how often, and
// how large it may grow is the operator's choice.
func driftBucket(c jetstream.StreamConfig, o BucketOptions) (found []string) {
	must := func(ok bool, setting string, have any) {
		if !ok {
			found = append(found, fmt.Sprintf("%s is %v", setting, have))
		}
	}
	must(len(c.Subjects) == 1 && c.Subjects[0] == bucketSubject(o.Name, ">"), "subjects", strings.Join(c.Subjects, " "))
	must(c.Storage == jetstream.FileStorage, "storage", c.Storage)
	must(c.Retention == jetstream.LimitsPolicy, "retention", c.Retention)
	must(c.Discard == jetstream.DiscardNew, "discard", c.Discard)
	must(c.MaxMsgs <= 0, "max_msgs", c.MaxMsgs)
	must(c.MaxMsgsPerSubject == 1, "max_msgs_per_subject", c.MaxMsgsPerSubject)
	must(c.MaxMsgSize <= 0 || c.MaxMsgSize >= 1<<20, "max_msg_size", c.MaxMsgSize)
	must(c.MaxAge == o.MaxAge, "max_age", c.MaxAge)
	must(!c.DenyPurge, "deny_purge", c.DenyPurge)
	must(c.AllowRollup, "allow_rollup_hdrs", c.AllowRollup)
	must(c.AllowMsgTTL, "allow_msg_ttl", c.AllowMsgTTL)
	must(!o.Fresh || !c.AllowDirect, "allow_direct", c.AllowDirect)
	must(!c.NoAck, "no_ack", c.NoAck)
	must(!c.Sealed, "sealed", c.Sealed)
	must(c.SubjectTransform == nil, "subject_transform", "set")
	must(c.Mirror == nil && len(c.Sources) == 0, "mirror or sources", "set")
	return found
}

func (b *Conn) bucketStream(ctx context.Context, name string) (jetstream.Stream, error) {
	stream, err := b.js.Stream(ctx, bucketStreamName(name))
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, fmt.Errorf("look at bucket %s: %w", name, ErrNoStream)
	}
	if err != nil {
		return nil, fmt.Errorf("look at bucket %s: %w", name, away(err))
	}
	return stream, nil
}

func bucketStreamName(name string) string { return "KV_" + name }

func bucketSubject(name, key string) string { return "$KV." + name + "." + key }

// Replicas is how often the stream is kept.
func (s *Stream) Replicas(ctx context.Context) (int, error) {
	info, err := s.stream.Info(ctx)
	if err != nil {
		return 0, fmt.Errorf("look at stream %s: %w", s.name, away(err))
	}
	return info.Config.Replicas, nil
}

// Scale sets how often the stream is kept: for operators. A sealed one can't be told.
func (s *Stream) Scale(ctx context.Context, replicas int) error {
	return s.bus.scale(ctx, s.name, replicas)
}

// ScaleBucket sets how often a bucket is kept: for operators.
func (b *Conn) ScaleBucket(ctx context.Context, name string, replicas int) error {
	return b.scale(ctx, bucketStreamName(name), replicas)
}

func (b *Conn) scale(ctx context.Context, name string, replicas int) error {
	stream, err := b.js.Stream(ctx, name)
	if err != nil {
		return fmt.Errorf("look at stream %s: %w", name, away(err))
	}
	c := stream.CachedInfo().Config
	c.Replicas = replicas
	if _, err := b.js.UpdateStream(ctx, c); err != nil {
		return fmt.Errorf("keep stream %s %d times: %w", name, replicas, away(err))
	}
	return nil
}

// CreateNext makes a stream that goes on from another one: as append-only, and where,
// how often and how large that one is.
func (b *Conn) CreateNext(ctx context.Context, name string, subjects []string, before *Stream) (*Stream, error) {
	info, err := before.stream.Info(ctx)
	if err != nil {
		return nil, fmt.Errorf("look at stream %s: %w", before.name, away(err))
	}
	c := appendOnly(name, subjects, info.Config.Replicas)
	c.MaxBytes, c.Placement, c.Compression = info.Config.MaxBytes, info.Config.Placement, info.Config.Compression
	stream, err := b.js.CreateStream(ctx, c)
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		return b.OpenStream(ctx, name)
	}
	if err != nil {
		return nil, fmt.Errorf("create stream %s: %w", name, away(err))
	}
	return &Stream{b, stream, name}, nil
}

// Stamp is a key and when it was written.
type Stamp struct {
	Key  string
	Time time.Time
}

// Stamps are the keys that are there and match a pattern, "" for all, without their
// values.
func (k *Bucket) Stamps(ctx context.Context, pattern string) (list []Stamp, err error) {
	if pattern == "" {
		pattern = ">"
	}
	watcher, err := k.kv.Watch(ctx, pattern, jetstream.MetaOnly(), jetstream.IgnoreDeletes())
	if err != nil {
		return nil, fmt.Errorf("list bucket %s: %w", k.name, away(err))
	}
	defer watcher.Stop() //nolint:errcheck // all was read
	for {
		select {
		case e, open := <-watcher.Updates():
			if !open {
				return nil, fmt.Errorf("list bucket %s: the watch ended", k.name)
			}
			if e == nil {
				return list, nil
			}
			list = append(list, Stamp{e.Key(), e.Created()})
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Erase takes every message of the keys that match a pattern out of the bucket's stream,
// and leaves no mark: for operators. Nobody who follows the bucket is told.
func (k *Bucket) Erase(ctx context.Context, pattern string) error {
	stream, err := k.js.Stream(ctx, bucketStreamName(k.name))
	if err == nil {
		err = stream.Purge(ctx, jetstream.WithPurgeSubject(bucketSubject(k.name, pattern)))
	}
	if err != nil {
		return fmt.Errorf("erase %s in bucket %s: %w", pattern, k.name, away(err))
	}
	return nil
}

// FindBucket opens a bucket that is there. The error is [ErrNoStream] where it is
// missing.
func (b *Conn) FindBucket(ctx context.Context, name string) (*Bucket, error) {
	kv, err := b.js.KeyValue(ctx, name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return nil, fmt.Errorf("open bucket %s: %w", name, ErrNoStream)
	}
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", name, away(err))
	}
	return &Bucket{kv, b.js, name, markerTTL}, nil
}
