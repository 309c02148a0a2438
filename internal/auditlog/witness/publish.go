package witness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// ID returns the token for a witness's key in subjects: its name and its hash.
func ID(key note.Verifier) string {
	name := strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' || strings.ContainsRune(".*>", r) {
			return '_'
		}
		return r
	}, key.Name())
	return fmt.Sprintf("%s-%08x", name, key.KeyHash())
}

// commit signs the last checked checkpoint. The state is on disk before the signature is
// published.
func (w *Witness) commit(ctx context.Context) error {
	if w.at.signed == nil || w.kept != nil && w.kept.Revision == w.at.revision && w.kept.Created.Equal(w.at.created) {
		return nil
	}
	cosigned, err := audit.Cosign(w.at.signed, w.keys, w.Signer)
	if err != nil {
		return err
	}
	m := &memory{
		Origin: w.at.head.Origin, Size: w.at.head.Size, Root: w.at.head.Root, Digest: w.at.head.Digest(), Segment: w.at.segment.Number,
		Created: w.at.created, Revision: w.at.revision, Checkpoint: string(cosigned), Subtrees: w.at.subtrees, head: w.at.head,
	}
	if err := m.save(w.State); err != nil {
		return err
	}
	w.kept, w.saved = m, time.Now()
	if err := w.publish(ctx); err != nil {
		return err
	}
	w.reportSigned()
	return nil
}

func (w *Witness) reportSigned() {
	if time.Since(w.reported) < w.Every {
		return
	}
	w.tell(Event{
		Time: time.Now().UTC(), Kind: "signed", Checkpoints: w.checked,
		Text: fmt.Sprintf("%s at size %d, after %d checkpoints", w.at.head.Origin, w.at.head.Size, w.checked),
	})
	w.reported, w.checked = time.Now(), 0
}

// published reads this witness's last publication for a segment.
func (w *Witness) published(ctx context.Context, segment string) error {
	w.own = &own{}
	rec, err := w.store.CheckpointNotes().Newest(ctx, store.CosignedSubject(w.conn, segment, ID(w.Verifier)))
	if errors.Is(err, natsx.ErrNoKey) {
		return nil
	}
	if err != nil {
		return err
	}
	w.own.revision = rec.Sequence
	opened, _ := note.Open(rec.Body, note.VerifierList(w.Verifier)) // nil if it is not signed
	if opened == nil {
		w.say("warning", "the last message on %s is not signed by this witness: check who else may publish there", rec.Subject)
		return nil
	}
	c, err := audit.ParseCheckpoint(opened.Text)
	if later, ok := errors.AsType[*audit.UnknownFormatError](err); ok {
		return fmt.Errorf("the last checkpoint that this witness published for %s: %w", segment, later)
	}
	if err != nil {
		return w.conflict(rec.Body, "the last checkpoint that this witness published can't be read: %v", err)
	}
	w.own.head = &c
	if w.at.signed == nil || w.at.head.Origin != c.Origin {
		return nil
	}
	if c.Size > w.at.head.Size {
		w.say("warning", "the state file is older than the last published checkpoint: it went back from size %d to %d", c.Size, w.at.head.Size)
		return nil
	}
	return w.compareOwn(w.at.head, w.at.signed)
}

// compareOwn compares a checkpoint with this witness's last publication.
func (w *Witness) compareOwn(c audit.Checkpoint, signed []byte) error {
	mine := w.own.head
	switch {
	case mine == nil || w.own.met || c.Size < mine.Size:
		return nil
	case w.kept != nil && w.kept.head.Origin == mine.Origin && mine.Size < w.kept.Size:
		// The state is ahead of the publication and continues from it.
	case c.Size > mine.Size, c.Root != mine.Root:
		return w.conflict(signed, "this witness has signed the root %s at size %d, but the log is another", mine.Root, mine.Size)
	}
	w.own.met = true
	return nil
}

// publish publishes the saved checkpoint, unless it is published already.
func (w *Witness) publish(ctx context.Context) error {
	m := w.kept
	if w.own.head != nil && (w.own.head.Origin == m.Origin && w.own.head.Size > m.Size || w.own.head.Digest() == m.Digest) {
		return nil
	}
	mine := store.Cosigned{Segment: segmentOf(m.Origin), Witness: ID(w.Verifier), Signed: []byte(m.Checkpoint), Format: int(audit.Latest)}
	revision, err := w.store.AppendCosigned(ctx, mine, w.own.revision)
	if errors.Is(err, natsx.ErrRevision) {
		newest, err := w.store.CheckpointNotes().Newest(ctx, store.CosignedSubject(w.conn, mine.Segment, mine.Witness))
		if err != nil {
			return err
		}
		if !bytes.Equal(newest.Body, mine.Signed) {
			return ErrTwice
		}
		revision = newest.Sequence
	} else if err != nil {
		return err
	}
	w.own = &own{revision: revision, head: &m.head, met: true}
	return nil
}
