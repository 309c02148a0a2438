package natsx

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// BucketState is the state of a bucket.
type BucketState struct {
	Replicas int
	Drift    []string // settings that differ from what is required; a phrase each
}

// InspectBucket compares a bucket with its required settings, for operators. The error is
// [ErrNoStream] if it is missing.
func (c *Conn) InspectBucket(ctx context.Context, o BucketOptions) (BucketState, error) {
	stream, err := c.bucketStream(ctx, o.Name)
	if err != nil {
		return BucketState{}, err
	}
	config := stream.CachedInfo().Config
	return BucketState{config.Replicas, bucketDrift(config, o)}, nil
}

// RepairBucket resets the settings of a bucket that drifted, as far as the server allows, for
// operators.
func (c *Conn) RepairBucket(ctx context.Context, o BucketOptions) error {
	stream, err := c.bucketStream(ctx, o.Name)
	if err != nil {
		return err
	}
	config := stream.CachedInfo().Config
	config.Subjects, config.Retention, config.Discard, config.DiscardNewPerSubject = []string{bucketSubject(o.Name, ">")}, jetstream.LimitsPolicy, jetstream.DiscardNew, false
	config.MaxMsgs, config.MaxMsgsPerSubject, config.MaxMsgSize, config.MaxAge = -1, 1, -1, o.MaxAge
	config.DenyDelete, config.DenyPurge, config.AllowRollup, config.AllowMsgTTL, config.SubjectDeleteMarkerTTL = true, false, true, true, o.markerTTL()
	config.SubjectTransform, config.NoAck = nil, false
	if o.LeaderReads {
		config.AllowDirect = false
	}
	if config.MaxAge > 0 {
		config.Duplicates = min(config.Duplicates, config.MaxAge)
	}
	if _, err := c.js.UpdateStream(ctx, config); err != nil {
		return fmt.Errorf("repair bucket %s: %w", o.Name, mapError(err))
	}
	return nil
}

// bucketDrift lists the settings in which a bucket differs. Placement, replicas and maximum size
// are the operator's choice.
func bucketDrift(c jetstream.StreamConfig, o BucketOptions) (d drift) {
	d.must(len(c.Subjects) == 1 && c.Subjects[0] == bucketSubject(o.Name, ">"), "subjects", strings.Join(c.Subjects, " "))
	d.common(c)
	d.must(c.MaxMsgsPerSubject == 1, "max_msgs_per_subject", c.MaxMsgsPerSubject)
	d.must(c.MaxAge == o.MaxAge, "max_age", c.MaxAge)
	d.must(!c.DenyPurge, "deny_purge", c.DenyPurge)
	d.must(c.AllowRollup, "allow_rollup_hdrs", c.AllowRollup)
	d.must(c.AllowMsgTTL, "allow_msg_ttl", c.AllowMsgTTL)
	d.must(!o.LeaderReads || !c.AllowDirect, "allow_direct", c.AllowDirect)
	d.must(!c.Sealed, "sealed", c.Sealed)
	return d
}

func (c *Conn) bucketStream(ctx context.Context, name string) (jetstream.Stream, error) {
	stream, err := c.js.Stream(ctx, bucketStreamName(name))
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, fmt.Errorf("inspect bucket %s: %w", name, ErrNoStream)
	}
	if err != nil {
		return nil, fmt.Errorf("inspect bucket %s: %w", name, mapError(err))
	}
	return stream, nil
}

func bucketStreamName(name string) string { return "KV_" + name }

func bucketSubject(name, key string) string { return "$KV." + name + "." + key }

// ScaleBucket sets the number of replicas of a bucket, for operators.
func (c *Conn) ScaleBucket(ctx context.Context, name string, replicas int) error {
	return c.scale(ctx, bucketStreamName(name), replicas)
}

func (c *Conn) scale(ctx context.Context, name string, replicas int) error {
	stream, err := c.js.Stream(ctx, name)
	if err != nil {
		return fmt.Errorf("inspect stream %s: %w", name, mapError(err))
	}
	config := stream.CachedInfo().Config
	config.Replicas = replicas
	if _, err := c.js.UpdateStream(ctx, config); err != nil {
		return fmt.Errorf("scale stream %s to %d replicas: %w", name, replicas, mapError(err))
	}
	return nil
}

// KeyTime is a key with the time of its last write.
type KeyTime struct {
	Key  string
	Time time.Time
}

// KeyTimes returns the keys that match a pattern, "" for all, without their values.
func (k *Bucket) KeyTimes(ctx context.Context, pattern string) (list []KeyTime, err error) {
	if pattern == "" {
		pattern = ">"
	}
	watcher, err := k.kv.Watch(ctx, pattern, jetstream.MetaOnly(), jetstream.IgnoreDeletes())
	if err != nil {
		return nil, fmt.Errorf("list bucket %s: %w", k.name, mapError(err))
	}
	defer watcher.Stop() //nolint:errcheck // everything was read
	for {
		select {
		case e, open := <-watcher.Updates():
			if !open {
				return nil, fmt.Errorf("list bucket %s: the watch ended", k.name)
			}
			if e == nil {
				return list, nil
			}
			list = append(list, KeyTime{e.Key(), e.Created()})
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Erase removes all messages of the keys that match a pattern from the bucket's stream, without
// markers, for operators. Followers of the bucket do not notice.
func (k *Bucket) Erase(ctx context.Context, pattern string) error {
	stream, err := k.conn.js.Stream(ctx, bucketStreamName(k.name))
	if err == nil {
		err = stream.Purge(ctx, jetstream.WithPurgeSubject(bucketSubject(k.name, pattern)))
	}
	if err != nil {
		return fmt.Errorf("erase %s in bucket %s: %w", pattern, k.name, mapError(err))
	}
	return nil
}

// FindBucket opens a bucket that exists. The error is [ErrNoStream] if it is missing.
func (c *Conn) FindBucket(ctx context.Context, name string) (*Bucket, error) {
	kv, err := c.js.KeyValue(ctx, name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return nil, fmt.Errorf("open bucket %s: %w", name, ErrNoStream)
	}
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", name, mapError(err))
	}
	return &Bucket{c, kv, name, defaultMarkerTTL}, nil
}
