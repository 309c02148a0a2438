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

// Index reads the index of a log.
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
	covered, late, err := x.late(ctx, s, id)
	if err != nil {
		return false, err
	}
	for _, msg := range slices.Backward(late) {
		if more, err := handle(msg); !more || err != nil {
			return more, err
		}
	}
	sequences, err := x.blocks(ctx, s.Number, covered, id)
	if err != nil {
		return false, err
	}
	slices.Reverse(sequences)
	return each(ctx, s, sequences, handle)
}

// FindOldest is [Index.Find], oldest first.
func (x *Index) FindOldest(ctx context.Context, s store.Segment, id string, handle func(natsx.Record) (more bool, err error)) (more bool, err error) {
	covered, late, err := x.late(ctx, s, id)
	if err != nil {
		return false, err
	}
	sequences, err := x.blocks(ctx, s.Number, covered, id)
	if err != nil {
		return false, err
	}
	if more, err := each(ctx, s, sequences, handle); !more || err != nil {
		return more, err
	}
	for _, msg := range late {
		if more, err := handle(msg); !more || err != nil {
			return more, err
		}
	}
	return true, nil
}

// late returns the last message that blocks cover, and the later ones with an id.
func (x *Index) late(ctx context.Context, s store.Segment, id string) (covered uint64, list []natsx.Record, err error) {
	covered, _, err = head(ctx, x.bucket, s.Number)
	if err != nil {
		return 0, nil, err
	}
	state, err := x.store.State(ctx, s)
	if err != nil {
		return 0, nil, err
	}
	if covered > state.Last { // of an earlier log
		covered = 0
	}
	list, err = tail(ctx, s, max(covered+1, state.First), state.Last, id)
	return covered, list, err
}

// each calls handle with messages, until it returns false.
func each(ctx context.Context, s store.Segment, sequences []uint64, handle func(natsx.Record) (more bool, err error)) (more bool, err error) {
	for _, sequence := range sequences {
		msg, err := s.Get(ctx, sequence)
		if errors.Is(err, natsx.ErrNoKey) {
			continue // of a stale block
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

// blocks returns the sequences that blocks have for an id, oldest first.
func (x *Index) blocks(ctx context.Context, segment int, covered uint64, id string) (list []uint64, err error) {
	part, hash := hashOf(id)
	var odd error
	err = x.bucket.Under(ctx, partKey(segment, part), func(e natsx.Entry) bool {
		var from, to uint64
		name := e.Key[strings.LastIndexByte(e.Key, '.')+1:]
		if _, err := fmt.Sscanf(name, "%d-%d", &from, &to); err != nil {
			odd = fmt.Errorf("read the audit index: the key %q: empty the bucket, and it is rebuilt", e.Key)
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
	return slices.Compact(list), errors.Join(err, odd)
}

// escape begins a JSON escape, which may encode any letter.
var escape = []byte(`\u`)

// tail returns the messages with an id that no block covers yet.
func tail(ctx context.Context, s store.Segment, from, to uint64, id string) (list []natsx.Record, err error) {
	word := []byte(id)
	if i := strings.IndexFunc(id, func(c rune) bool { return c < ' ' || c == '"' || c == '\\' || c == '/' || c >= 0x7f }); i >= 0 {
		word = word[:i] // JSON may encode the rest differently
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
