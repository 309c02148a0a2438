package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
)

// ErrNone means that there is no index.
var ErrNone = errors.New("there is no index of the audit log")

// Index is the index of a log, for reading.
type Index struct {
	bucket *natsx.Bucket
	store  *store.Log
}

// Open opens the index of a log. The error is [ErrNone] if no router has created one.
func Open(ctx context.Context, conn *natsx.Conn, l *store.Log) (*Index, error) {
	bucket, err := conn.FindBucket(ctx, Bucket(conn.Prefix(), 0).Name)
	if errors.Is(err, natsx.ErrNoStream) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, err
	}
	return &Index{bucket, l}, nil
}

// Find calls handle with the messages of a segment that may be about an id, newest first, until
// it returns false. Nothing is held open between two calls.
func (x *Index) Find(ctx context.Context, s store.Segment, id string, handle func(natsx.Record) (more bool, err error)) (more bool, err error) {
	to, _, err := head(ctx, x.bucket, s.Number)
	if err != nil {
		return false, err
	}
	state, err := x.store.State(ctx, s)
	if err != nil {
		return false, err
	}
	if to > state.Last { // of an earlier log
		to = 0
	}
	late, err := tail(ctx, s, max(to+1, state.First), state.Last, id)
	if err != nil {
		return false, err
	}
	for _, msg := range slices.Backward(late) {
		if more, err := handle(msg); !more || err != nil {
			return more, err
		}
	}
	sequences, err := x.blocks(ctx, s.Number, to, id)
	if err != nil {
		return false, err
	}
	for _, sequence := range sequences {
		msg, err := s.Get(ctx, sequence)
		if errors.Is(err, natsx.ErrNoKey) {
			continue // of a block that was left behind
		}
		if err != nil {
			return false, err
		}
		if more, err := handle(msg); !more || err != nil {
			return more, err
		}
	}
	return true, nil
}

// blocks returns the sequences that blocks have for an id, newest first.
func (x *Index) blocks(ctx context.Context, segment int, covered uint64, id string) (list []uint64, err error) {
	part, hash := hashOf(id)
	var odd error
	err = x.bucket.Under(ctx, partKey(segment, part), func(e natsx.Entry) bool {
		var from, to uint64
		name := e.Key[strings.LastIndexByte(e.Key, '.')+1:]
		if _, err := fmt.Sscanf(name, "%d-%d", &from, &to); err != nil {
			odd = fmt.Errorf("read the audit index: the key %q: empty the bucket, and it is built again", e.Key)
			return false
		}
		for _, sequence := range find(e.Value, from, hash) {
			if sequence <= covered {
				list = append(list, sequence)
			}
		}
		return true
	})
	slices.Sort(list)
	list = slices.Compact(list)
	slices.Reverse(list)
	return list, errors.Join(err, odd)
}

// escape begins a JSON escape, which may be any letter.
var escape = []byte(`\u`)

// tail returns the messages with an id that no block covers yet.
func tail(ctx context.Context, s store.Segment, from, to uint64, id string) (list []natsx.Record, err error) {
	word := []byte(id)
	if i := strings.IndexFunc(id, func(c rune) bool { return c < ' ' || c == '"' || c == '\\' || c == '/' || c >= 0x7f }); i >= 0 {
		word = word[:i] // JSON may write the rest in another way
	}
	for ; from <= to && err == nil; from += page {
		err = s.Read(ctx, "", from, min(to, from+page-1), func(msg natsx.Record) error {
			if (bytes.Contains(msg.Body, word) || bytes.Contains(msg.Body, escape)) && slices.Contains(idsOf(msg.Body), id) {
				msg.Body = slices.Clone(msg.Body)
				list = append(list, msg)
			}
			return nil
		})
	}
	return list, err
}
