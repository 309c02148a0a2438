package query

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// Note is an unverified signed checkpoint.
type Note struct {
	Signed []byte
	Text   string // the signed text
	audit.Checkpoint
	OK    bool // it has the form of a checkpoint
	Later bool // it has a later version's format
}

// ParseNote reads a signed checkpoint without verifying its signatures.
func ParseNote(signed []byte) Note {
	n := Note{Signed: signed}
	end := strings.LastIndex(string(signed), "\n\n")
	if end < 0 {
		return n
	}
	n.Text = string(signed[:end+1])
	c, err := audit.ParseCheckpoint(n.Text)
	n.Checkpoint, n.OK = c, err == nil
	_, n.Later = errors.AsType[*audit.UnknownFormatError](err)
	return n
}

// parsePlain reads a router's checkpoint from its stream. A malformed one is passed on as it is,
// for verification to find.
func parsePlain(rec natsx.Record) Note {
	signed := rec.Body
	if c, err := store.DecodeCheckpoint(rec); err == nil {
		signed = []byte(c.Signed)
	}
	return ParseNote(signed)
}

func parseCosigned(rec natsx.Record) Note { return ParseNote(rec.Body) }

// LastNote returns the newest checkpoint of a segment by its stream name; the stream may be
// gone. The error is [natsx.ErrNoKey] if there is none.
func (l *Log) LastNote(ctx context.Context, stream string) (Note, error) {
	rec, err := l.store.CheckpointNotes().Newest(ctx, store.CheckpointSubject(l.conn, stream))
	if err != nil {
		return Note{}, err
	}
	return parsePlain(rec), nil
}

// lastCosigned returns the newest checkpoint that a witness signed.
func (l *Log) lastCosigned(ctx context.Context, stream string) (Note, error) {
	rec, err := l.store.CheckpointNotes().Newest(ctx, store.CosignedSubject(l.conn, stream, "*"))
	if err != nil {
		return Note{}, err
	}
	return parseCosigned(rec), nil
}

// Heads returns the checkpoint that each witness signed last.
func (l *Log) Heads(ctx context.Context, stream string) (heads []Note, err error) {
	newest, err := l.witnesses(ctx, stream)
	if err != nil {
		return nil, err
	}
	for _, subject := range slices.Sorted(maps.Keys(newest)) {
		heads = append(heads, newest[subject])
	}
	return heads, nil
}

// witnesses returns the subjects of a segment's co-signed checkpoints, with the newest revision
// on each.
func (l *Log) witnesses(ctx context.Context, stream string) (map[string]Note, error) {
	newest := map[string]Note{}
	err := l.store.Cosigned(ctx, stream, func(rec natsx.Record) { newest[rec.Subject] = parseCosigned(rec) })
	return newest, err
}

// cursor reads notes in batches, so that a slow reader keeps no consumer open.
type cursor struct {
	log      *Log
	subject  string
	parse    func(natsx.Record) Note
	next, to uint64
	page     []Note
}

// notesAtATime is the size of a batch.
const notesAtATime = 256

// peek returns the next note, nil at the end.
func (c *cursor) peek(ctx context.Context) (*Note, error) {
	if len(c.page) == 0 && c.next <= c.to {
		err := c.log.read(ctx, c.log.store.CheckpointNotes(), c.subject, c.next, c.to, func(rec natsx.Record) error {
			c.next = rec.Sequence + 1
			if c.page = append(c.page, c.parse(rec)); len(c.page) == notesAtATime {
				return ErrEnough
			}
			return nil
		})
		if err == nil {
			c.next = c.to + 1
		} else if !errors.Is(err, ErrEnough) {
			return nil, err
		}
	}
	if len(c.page) == 0 {
		return nil, nil
	}
	return &c.page[0], nil
}

func (c *cursor) pop() { c.page = c.page[1:] }
