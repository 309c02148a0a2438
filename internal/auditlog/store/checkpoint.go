package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// Checkpoint is a checkpoint from the checkpoint stream. It proves nothing until its signature
// is verified.
type Checkpoint struct {
	// Signed is the signed note, see [audit.Keys.Open].
	Signed string `json:"checkpoint"`
	// Subtrees are what [audit.LogAt] needs to continue from it. They need no trust.
	Subtrees []tlog.Hash `json:"subtrees"`
	// Revision is its revision in the stream; 0 for none.
	Revision uint64 `json:"-"`
}

// FormatHeader is the header of a co-signed checkpoint with the newest log format that its witness
// knows. Without it, that is the first format.
const FormatHeader = "Hook-Audit-Format"

// CheckpointStream returns the name of the stream of a log's checkpoints.
func CheckpointStream(c *natsx.Conn) string { return strings.ToUpper(c.Prefix()) + "_CHECKPOINTS" }

// CheckpointSubjects returns the subjects of the checkpoint stream.
func CheckpointSubjects(c *natsx.Conn) []string {
	return []string{c.Of("checkpoint", ">"), c.Of("cosigned", ">")}
}

// CheckpointSubject returns the subject of a segment's checkpoints.
func CheckpointSubject(c *natsx.Conn, segment string) string { return c.Of("checkpoint", segment) }

// CosignedSubject returns the subject on which a witness publishes the checkpoints that it signed;
// "*" for all segments or witnesses.
func CosignedSubject(c *natsx.Conn, segment, witness string) string {
	return c.Of("cosigned", segment, witness)
}

// LastCheckpoint returns the newest checkpoint of a segment. The error is [natsx.ErrNoKey] if it
// has none.
func (l *Log) LastCheckpoint(ctx context.Context, s Segment) (Checkpoint, error) {
	rec, err := l.notes.Newest(ctx, CheckpointSubject(l.conn, s.Name()))
	if err != nil {
		return Checkpoint{}, err
	}
	return DecodeCheckpoint(rec)
}

// DecodeCheckpoint reads a message of the checkpoint stream.
func DecodeCheckpoint(rec natsx.Record) (Checkpoint, error) {
	c := Checkpoint{Revision: rec.Sequence}
	if err := json.Unmarshal(rec.Body, &c); err != nil {
		return Checkpoint{}, fmt.Errorf("read checkpoint %d of %s: %w", rec.Sequence, rec.Subject, err)
	}
	return c, nil
}

// AppendCheckpoint appends a checkpoint after the one with that revision, 0 for the first. The
// error is [natsx.ErrRevision] if another one was appended.
func (l *Log) AppendCheckpoint(ctx context.Context, s Segment, c Checkpoint, after uint64) (revision uint64, err error) {
	body, err := json.Marshal(c)
	if err != nil {
		return 0, fmt.Errorf("write checkpoint: %w", err)
	}
	return l.notes.Append(ctx, CheckpointSubject(l.conn, s.Name()), "", after, body)
}

// Checkpoints calls handle for each checkpoint of a segment, oldest first.
func (l *Log) Checkpoints(ctx context.Context, s Segment, handle func(Checkpoint) error) error {
	return ReadAll(ctx, l.notes, CheckpointSubject(l.conn, s.Name()), natsx.Start{}, func(rec natsx.Record) error {
		c, err := DecodeCheckpoint(rec)
		if err != nil {
			return err
		}
		return handle(c)
	})
}

// Cosigned is a checkpoint with a witness's signature.
type Cosigned struct {
	Segment, Witness string
	Signed           []byte
	Format           int // the newest that the witness knows
}

// AppendCosigned appends a co-signed checkpoint after the one with that revision, 0 for the
// witness's first of the segment. The error is [natsx.ErrRevision] if another one was appended.
func (l *Log) AppendCosigned(ctx context.Context, c Cosigned, after uint64) (revision uint64, err error) {
	header := wire.Header{FormatHeader: {fmt.Sprint(c.Format)}}
	return l.notes.AppendWith(ctx, CosignedSubject(l.conn, c.Segment, c.Witness), header, after, c.Signed)
}

// Cosigned calls handle for the newest co-signed checkpoint of each witness of a segment,
// "*" for all segments.
func (l *Log) Cosigned(ctx context.Context, segment string, handle func(natsx.Record)) error {
	return ReadAll(ctx, l.notes, CosignedSubject(l.conn, segment, "*"), natsx.Start{Newest: true}, func(rec natsx.Record) error {
		handle(rec)
		return nil
	})
}

// CheckpointNotes returns the stream of the checkpoints, to follow it.
func (l *Log) CheckpointNotes() *natsx.Stream { return l.notes }

// ReadAll follows a stream until all current messages are handled.
func ReadAll(ctx context.Context, s *natsx.Stream, subject string, start natsx.Start, handle func(natsx.Record) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := errors.New("all is read")
	err := s.Follow(ctx, subject, start, handle, func() { cancel(done) })
	if errors.Is(context.Cause(ctx), done) {
		return nil
	}
	return err
}
