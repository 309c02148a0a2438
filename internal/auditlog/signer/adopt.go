package signer

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

func (s *Signer) origin() string { return s.store.Origin(s.segment) }

// adopt takes over the newest checkpoint of the segment, whoever wrote it.
func (s *Signer) adopt(ctx context.Context) error {
	newest, err := s.store.LastCheckpoint(ctx, s.segment)
	if errors.Is(err, natsx.ErrNoKey) || err == nil && newest.Revision == s.revision {
		return nil
	}
	if err != nil {
		return err
	}
	c, trusted, err := s.parse(newest.Signed)
	if later, ok := errors.AsType[*audit.UnknownFormatError](err); ok {
		s.later(later, newest.Revision)
		return nil
	}
	switch {
	case err != nil:
		return alarmed("checkpoint %d of %s can't be read: %v", newest.Revision, s.segment.Name(), err)
	case c.Origin != s.origin():
		return alarmed("checkpoint %d of %s belongs to the log %s", newest.Revision, s.segment.Name(), c.Origin)
	case s.head != nil && s.head.Format != c.Format:
		return alarmed("checkpoint %d of %s is in the format %q, but the segment is in %q", newest.Revision, s.segment.Name(), c.Format, s.head.Format)
	case s.head != nil && s.head.Size == c.Size && s.head.Root != c.Root:
		return alarmed("two checkpoints of size %d state different roots: %s and %s", c.Size, s.head.Root, c.Root)
	}
	if err := s.restart(c, newest.Subtrees, trusted); err != nil {
		return err
	}
	s.head, s.revision, s.digest, s.mine, s.adopted = &c, newest.Revision, c.Digest(), false, time.Now()
	return nil
}

// parse reads a checkpoint. trusted means that it is signed with this router's key.
func (s *Signer) parse(signed string) (c audit.Checkpoint, trusted bool, err error) {
	c, _, err = (audit.Keys{Routers: []note.Verifier{s.Verifier}}).Open([]byte(signed))
	if err == nil {
		return c, true, nil
	}
	if later, ok := errors.AsType[*audit.UnknownFormatError](err); ok {
		return c, true, later
	}
	_, err = note.Open([]byte(signed), note.VerifierList())
	unknown, ok := errors.AsType[*note.UnverifiedNoteError](err)
	if !ok {
		return c, false, err
	}
	c, err = audit.ParseCheckpoint(unknown.Note.Text)
	return c, false, err
}

// later leaves the segment to newer routers. Its last checkpoint precedes the next segment's
// first.
func (s *Signer) later(found *audit.UnknownFormatError, revision uint64) {
	if s.abandoned != laterFormat {
		s.Log.Warn("audit segment not signed by this router; upgrade it", "stream", s.segment.Name(), "error", found)
	}
	s.abandoned, s.revision, s.mine = laterFormat, revision, false
	s.digest = sha256.Sum256([]byte(found.Text))
}

// restart builds the log that the next checkpoint continues: from the checkpoint if it is
// trusted, else from memory, else by reading everything again.
func (s *Signer) restart(c audit.Checkpoint, subtrees []tlog.Hash, trusted bool) error {
	stated := expected{c.Size, c.Format, c.Root, "a checkpoint states"}
	if s.log != nil && s.log.Size() > 0 && s.log.Size() <= c.Size {
		s.log.SetFormat(c.Format)
		s.expect = append(s.expect, stated)
		return s.compare() // reading continues to it
	}
	if s.log != nil && s.log.Size() > c.Size {
		s.expect = append(s.expect, expected{s.log.Size(), c.Format, s.log.Root(c.Format), "this router has read"})
	}
	s.log = &audit.Log{}
	s.log.SetFormat(c.Format)
	if trusted {
		if log, err := audit.LogAt(c, subtrees); err == nil {
			s.log = log
			return nil
		}
	}
	s.expect = append(s.expect, stated)
	return nil
}
