package witness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/hookrouter/hookrouter/internal/atomicfile"
	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// memory is the state file. The witness's signature covers the checkpoint, and the checkpoint's
// root covers the subtrees; the rest is the position to continue from.
type memory struct {
	Origin     string      `json:"origin"`
	Size       int64       `json:"size"`
	Root       tlog.Hash   `json:"root"`
	Digest     tlog.Hash   `json:"digest"` // of the checkpoint
	Segment    int         `json:"segment"`
	Created    time.Time   `json:"created"`
	Revision   uint64      `json:"revision"`
	Checkpoint string      `json:"checkpoint"` // co-signed
	Subtrees   []tlog.Hash `json:"subtrees"`

	head audit.Checkpoint
}

// load reads the state, if there is one.
func (w *Witness) load() error {
	if err := w.refused(); err != nil {
		return err
	}
	text, err := os.ReadFile(w.State)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Dir(w.State)); err != nil {
			return fmt.Errorf("store the state in %s: %w", w.State, err)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the state: %w", err)
	}
	m := &memory{}
	if err := json.Unmarshal(text, m); err != nil {
		return fmt.Errorf("read the state in %s: %w", w.State, err)
	}
	if _, err := note.Open([]byte(m.Checkpoint), note.VerifierList(w.Verifier)); err != nil {
		return fmt.Errorf("read the state in %s: it is damaged, or another witness's: its checkpoint is not signed with the key %s", w.State, w.Verifier.Name())
	}
	m.head, _, err = w.keys.Open([]byte(m.Checkpoint))
	if later, ok := errors.AsType[*audit.UnknownFormatError](err); ok {
		return fmt.Errorf("read the state in %s: %w", w.State, later)
	}
	if err != nil {
		return fmt.Errorf("read the state in %s: %w: %w", w.State, ErrKey, err)
	}
	if _, err := audit.LogAt(m.head, m.Subtrees); err != nil {
		return fmt.Errorf("read the state in %s: it is damaged: %w", w.State, err)
	}
	w.kept = m
	return nil
}

// begin finds the position to continue from.
func (w *Witness) begin(ctx context.Context) error {
	if w.kept == nil {
		return w.beginAtStart(ctx)
	}
	m := w.kept
	s, err := w.store.Segment(ctx, m.Segment)
	if errors.Is(err, natsx.ErrNoStream) {
		s.Stream = nil
		if w.store.Live().Number <= m.Segment {
			return w.gone(nil, "the stream %s is gone, but %d of its messages were seen", segmentOf(m.Origin), m.Size)
		}
		w.say("warning", "%s was removed after it was seen to size %d", segmentOf(m.Origin), m.Size)
	} else if err != nil {
		return err
	}
	w.at = position{
		segment: s, created: m.Created, revision: m.Revision, signed: []byte(m.Checkpoint), head: m.head, previous: m.head.Digest(), subtrees: m.Subtrees,
	}
	if w.log, err = audit.LogAt(m.head, m.Subtrees); err != nil {
		return err
	}
	if err := w.sameCheckpoint(ctx); err != nil {
		return err
	}
	if err := w.published(ctx, segmentOf(m.Origin)); err != nil {
		return err
	}
	w.started("at size %d of %s", m.Size, m.Origin)
	return w.publish(ctx)
}

// beginAtStart begins with the oldest existing segment.
func (w *Witness) beginAtStart(ctx context.Context) error {
	segments, err := w.store.Segments(ctx)
	if err != nil {
		return err
	}
	if len(segments) == 0 {
		return store.ErrNoLog
	}
	w.at, w.log = position{unproven: segments[0].Number > 1}, &audit.Log{}
	if err := w.enter(ctx, segments[0]); err != nil {
		return err
	}
	w.started("at the beginning of %s", w.origin())
	return nil
}

// enter starts a segment at its first message.
func (w *Witness) enter(ctx context.Context, s store.Segment) error {
	state, err := w.store.State(ctx, s)
	if err != nil {
		return err
	}
	w.at.segment, w.at.created, w.at.head, w.log = s, state.Created, audit.Checkpoint{}, &audit.Log{}
	return w.published(ctx, s.Name())
}

// sameCheckpoint checks that the last signed checkpoint is still in its place.
func (w *Witness) sameCheckpoint(ctx context.Context) error {
	rec, err := w.store.CheckpointNotes().Get(ctx, w.at.revision)
	if errors.Is(err, natsx.ErrNoKey) {
		return w.gone(nil, "the checkpoint of size %d that was signed is gone", w.at.head.Size)
	}
	if err != nil {
		return err
	}
	text := w.at.head.Text()
	if c, err := store.DecodeCheckpoint(rec); err != nil || !strings.HasPrefix(c.Signed, text+"\n") {
		return w.conflict([]byte(c.Signed), "the signed checkpoint of size %d was replaced by another", w.at.head.Size)
	}
	return nil
}

func (w *Witness) origin() string { return audit.Origin(w.conn.Prefix(), w.at.segment.Name()) }

func segmentOf(origin string) string { return origin[strings.IndexByte(origin, '/')+1:] }

// save replaces the state on disk.
func (m *memory) save(path string) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("store the state: %w", err)
	}
	if err := atomicfile.Write(path, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("store the state: %w", err)
	}
	return nil
}
