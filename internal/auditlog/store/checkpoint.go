package store

import (
	"context"
	"encoding/json"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// Checkpoint is a checkpoint as the log's checkpoint stream holds it. It proves
// nothing before its signature is checked.
type Checkpoint struct {
	// Signed is the signed note, see [audit.Keys.Open].
	Signed string `json:"checkpoint"`
	// Subtrees are what [audit.LogAt] needs to go on from it. They need no trust.
	Subtrees []tlog.Hash `json:"subtrees"`
	// Revision is its place in the stream; 0 for none.
	Revision uint64 `json:"-"`
}

// CheckpointSubject is where the checkpoints of a segment stand.
func CheckpointSubject(b *natsx.Conn, segment string) string { return b.Of("checkpoint", segment) }

// CosignedSubject is where a witness puts the checkpoints that it has signed, "*" for
// all witnesses.
func CosignedSubject(b *natsx.Conn, segment, witness string) string {
	return b.Of("cosigned", segment, witness)
}

// LastCheckpoint is the newest checkpoint of a segment. The error is [natsx.ErrNoKey]
// where it has none.
func (t *Log) LastCheckpoint(ctx context.Context, s Segment) (Checkpoint, error) {
	rec, err := t.notes.Newest(ctx, CheckpointSubject(t.bus, s.Name()))
	if err != nil {
		return Checkpoint{}, err
	}
	return decodeCheckpoint(rec)
}

func decodeCheckpoint(rec natsx.Record) (Checkpoint, error) {
	c := Checkpoint{Revision: rec.Sequence}
	if err := json.Unmarshal(rec.Body, &c); err != nil {
		return Checkpoint{}, fmt.Errorf("read checkpoint %d of %s: %w", rec.Sequence, rec.Subject, err)
	}
	return c, nil
}

// AppendCheckpoint appends a checkpoint after the one with that revision, 0 for the
// first. The error is [natsx.ErrRevision] where another was first.
func (t *Log) AppendCheckpoint(ctx context.Context, s Segment, c Checkpoint, after uint64) (revision uint64, err error) {
	body, err := json.Marshal(c)
	if err != nil {
		return 0, fmt.Errorf("write checkpoint: %w", err)
	}
	return t.notes.Append(ctx, CheckpointSubject(t.bus, s.Name()), "", after, body)
}

// Checkpoints calls handle for each checkpoint of a segment, the oldest first, and then
// for each co-signed one.
func (t *Log) Checkpoints(ctx context.Context, s Segment, handle func(Checkpoint) error, cosigned func(signed []byte) error) error {
	state, err := t.notes.State(ctx, CheckpointSubjects(t.bus))
	if err != nil {
		return err
	}
	err = t.notes.Read(ctx, CheckpointSubject(t.bus, s.Name()), 1, state.Last, func(rec natsx.Record) error {
		c, err := decodeCheckpoint(rec)
		if err != nil {
			return err
		}
		return handle(c)
	})
	if err != nil || cosigned == nil {
		return err
	}
	return t.notes.Read(ctx, CosignedSubject(t.bus, s.Name(), "*"), 1, state.Last, func(rec natsx.Record) error { return cosigned(rec.Body) })
}

// CheckpointNotes is the stream of the checkpoints, for who follows it.
func (t *Log) CheckpointNotes() *natsx.Stream { return t.notes }
