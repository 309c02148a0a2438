package natsx

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Under calls yield with the keys below a prefix ("a" for "a.b"), the oldest write first, until
// yield returns false. A key that is written in the meantime is passed once. Under gets the
// messages one by one and so does not need the permission to create consumers, which could deliver
// to any subject.
func (k *Bucket) Under(ctx context.Context, prefix string, yield func(Entry) bool) error {
	stream, err := k.conn.bucketStream(ctx, k.name)
	if err != nil {
		return err
	}
	below := jetstream.WithGetMsgSubject(bucketSubject(k.name, prefix+".>"))
	seen := map[string]bool{}
	for next := uint64(1); ; {
		msg, err := stream.GetMsg(ctx, next, below)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("list bucket %s: %w", k.name, mapError(err))
		}
		next = msg.Sequence + 1
		key := strings.TrimPrefix(msg.Subject, bucketSubject(k.name, ""))
		if seen[key] || isMarker(msg.Header) {
			continue
		}
		seen[key] = true
		if !yield(Entry{Key: key, Value: msg.Data, Revision: msg.Sequence}) {
			return nil
		}
	}
}

// Holds returns the keys that match a pattern and have a message in the bucket's stream: a value,
// or the marker of a deleted key.
func (k *Bucket) Holds(ctx context.Context, pattern string) (keys map[string]bool, err error) {
	stream, err := k.conn.bucketStream(ctx, k.name)
	if err != nil {
		return nil, err
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(bucketSubject(k.name, pattern)))
	if err != nil {
		return nil, fmt.Errorf("list bucket %s: %w", k.name, mapError(err))
	}
	keys = map[string]bool{}
	for subject := range info.State.Subjects {
		keys[strings.TrimPrefix(subject, bucketSubject(k.name, ""))] = true
	}
	return keys, nil
}

// isMarker reports whether the header is that of a marker of a deleted key, whether a client
// deleted it or it expired.
func isMarker(header nats.Header) bool {
	return header.Get("KV-Operation") != "" || header.Get(jetstream.MarkerReasonHeader) != ""
}
