package signer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

const (
	interval = time.Second     // between two looks at the log
	standby  = 3 * time.Second // how old another's checkpoint is before one steps in
	patience = time.Minute     // with messages that can't be read
	tickTime = 30 * time.Second
)

// Options configure a notary.
type Options struct {
	// Prefix of the log.
	Prefix string
	// Key signs; Verifier is its other half. Both are needed.
	Key      note.Signer
	Verifier note.Verifier
	// Alarm is told once of each thing that must not be: another history than the one
	// that was signed, or a message that is no record. Nil for nobody.
	Alarm func(reason string)
	// Log; nil discards it.
	Log *slog.Logger
}

// Notary signs checkpoints. Run it.
type Signer struct {
	Options
	trail *store.Log

	segment  store.Segment
	log      *audit.Log
	head     *audit.Checkpoint // the last that is known, nil for none
	revision uint64            // its place among the checkpoints
	previous tlog.Hash         // what the first checkpoint of the segment names
	mine     bool              // this notary wrote head
	expect   []expected        // roots to be found when the log is read again
	alarms   map[string]bool   // that were raised
	short    time.Time         // since when the end of the log can't be read
	broken   bool              // what is in the segment is not what was signed
}

// expected is a root that somebody signed, or that this notary had.
type expected struct {
	size int64
	root tlog.Hash
	who  string
}

// New makes a notary of a log.
func New(t *store.Log, o Options) *Signer {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Alarm == nil {
		o.Alarm = func(string) {}
	}
	return &Signer{Options: o, trail: t, alarms: map[string]bool{}}
}

// Run signs until ctx ends, and then once more, for what was written last.
func (n *Signer) Run(ctx context.Context) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
			n.look(ctx, false)
		case <-ctx.Done():
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	n.look(last, true)
}

// look signs what there is to sign. last steps in at once.
func (n *Signer) look(ctx context.Context, last bool) {
	ctx, cancel := context.WithTimeout(ctx, tickTime)
	defer cancel()
	err := n.sign(ctx, last)
	alarm, isAlarm := errors.AsType[*alarm](err)
	switch {
	case isAlarm:
		n.broken = true
		if !n.alarms[alarm.reason] {
			n.alarms[alarm.reason] = true
			n.Log.Error("ALARM: the audit log is not what was signed: no more checkpoints", "reason", alarm.reason)
			n.Alarm(alarm.reason)
		}
	case err != nil && ctx.Err() == nil:
		n.Log.Warn("could not sign the audit log, trying again", "error", err)
	}
}

// alarm is what must not be.
type alarm struct{ reason string }

func (a *alarm) Error() string { return a.reason }

func alarmed(format string, args ...any) error { return &alarm{fmt.Sprintf(format, args...)} }

// sign goes through the segments as far as there is something to sign.
func (n *Signer) sign(ctx context.Context, last bool) error {
	if n.broken {
		if left, err := n.leave(ctx); !left || err != nil {
			return err
		}
	}
	for {
		if n.log == nil {
			if err := n.begin(ctx); err != nil {
				return err
			}
		}
		state, err := n.segment.State(ctx, n.trail.Subjects())
		if err != nil {
			return err
		}
		if int64(state.Last) > n.size() {
			if wait, err := n.standBy(ctx, last); wait || err != nil {
				return err
			}
			if err := n.advance(ctx, int64(state.Last)); err != nil {
				return err
			}
		}
		if !state.Sealed || n.size() < int64(state.Last) {
			return nil
		}
		if err := n.trail.Refresh(ctx); err != nil {
			return err
		}
		if n.trail.Live().Number == n.segment.Number {
			return nil
		}
		if err := n.next(ctx); err != nil {
			return err
		}
	}
}

// leave goes on behind a segment that is not what was signed, once an operator has closed
// it: the checkpoints of the next follow the last good one.
func (n *Signer) leave(ctx context.Context) (left bool, err error) {
	state, err := n.segment.State(ctx, n.trail.Subjects())
	if err != nil || !state.Sealed {
		return false, err
	}
	if err := n.trail.Refresh(ctx); err != nil || n.trail.Live().Number == n.segment.Number {
		return false, err
	}
	if err := n.next(ctx); err != nil {
		return false, err
	}
	n.broken = false
	return true, nil
}

// size is what the last known checkpoint covers.
func (n *Signer) size() int64 {
	if n.head == nil {
		return 0
	}
	return n.head.Size
}

// begin finds the segment to go on with: the first whose end is not signed.
func (n *Signer) begin(ctx context.Context) error {
	segments, err := n.trail.Segments(ctx)
	if err != nil {
		return err
	}
	for _, s := range segments {
		if err := n.open(ctx, s); err != nil {
			return err
		}
		state, err := s.State(ctx, n.trail.Subjects())
		if err != nil {
			return err
		}
		if !state.Sealed || int64(state.Last) > n.size() {
			return nil
		}
	}
	return nil
}

// next goes on with the segment after one that is signed to its end.
func (n *Signer) next(ctx context.Context) error {
	for number := n.segment.Number + 1; ; number++ {
		s, err := n.trail.Segment(ctx, number)
		if errors.Is(err, natsx.ErrNoStream) && number < n.trail.Live().Number {
			continue
		}
		if err != nil {
			return err
		}
		return n.open(ctx, s)
	}
}

// open takes a segment at its last checkpoint.
func (n *Signer) open(ctx context.Context, s store.Segment) error {
	n.previous = tlog.Hash{}
	if n.head != nil {
		n.previous = n.head.Digest()
	}
	n.segment, n.head, n.revision, n.mine, n.expect, n.log = s, nil, 0, false, nil, nil
	if err := n.adopt(ctx); err != nil {
		return err
	}
	if n.log == nil {
		n.log = &audit.Log{}
	}
	return nil
}

// adopt takes in the newest checkpoint, whoever wrote it.
func (n *Signer) adopt(ctx context.Context) error {
	newest, err := n.trail.LastCheckpoint(ctx, n.segment)
	if errors.Is(err, natsx.ErrNoKey) || err == nil && newest.Revision == n.revision {
		return nil
	}
	if err != nil {
		return err
	}
	trusted := true
	c, _, err := (audit.Keys{Routers: []note.Verifier{n.Verifier}}).Open([]byte(newest.Signed))
	if err != nil {
		trusted = false
		if c, err = unverified(newest.Signed); err != nil {
			return alarmed("checkpoint %d of %s can't be read: %v", newest.Revision, n.segment.Name(), err)
		}
	}
	if c.Origin != n.origin() {
		return alarmed("checkpoint %d of %s is one of the log %s", newest.Revision, n.segment.Name(), c.Origin)
	}
	if own := n.head; own != nil && own.Size == c.Size && own.Root != c.Root {
		return alarmed("two checkpoints of size %d state different roots: %s and %s", c.Size, own.Root, c.Root)
	}
	if err := n.restart(c, newest.Subtrees, trusted); err != nil {
		return err
	}
	n.head, n.revision, n.mine = &c, newest.Revision, false
	return nil
}

// restart makes the log that the next checkpoint is made of: that of a checkpoint which
// is trusted, else the one at hand, or all of it read again.
func (n *Signer) restart(c audit.Checkpoint, subtrees []tlog.Hash, trusted bool) error {
	stated := expected{c.Size, c.Root, "a checkpoint states"}
	if n.log != nil && n.log.Size() > 0 && n.log.Size() <= c.Size {
		n.expect = append(n.expect, stated)
		return n.compare() // and goes on reading to it
	}
	if n.log != nil && n.log.Size() > c.Size {
		n.expect = append(n.expect, expected{n.log.Size(), n.log.Root(), "this router has read"})
	}
	n.log = &audit.Log{}
	if trusted {
		if log, err := audit.LogAt(c, subtrees); err == nil {
			n.log = log
			return nil
		}
	}
	n.expect = append(n.expect, stated)
	return nil
}

// unverified reads a checkpoint whose signature is not known here.
func unverified(signed string) (audit.Checkpoint, error) {
	_, err := note.Open([]byte(signed), note.VerifierList())
	unknown, ok := errors.AsType[*note.UnverifiedNoteError](err)
	if !ok {
		return audit.Checkpoint{}, err
	}
	return audit.ParseCheckpoint(unknown.Note.Text)
}

func (n *Signer) origin() string { return audit.Origin(n.Prefix, n.segment.Name()) }

// standBy reports whether another notary is at work.
func (n *Signer) standBy(ctx context.Context, last bool) (wait bool, err error) {
	if n.mine {
		return false, nil
	}
	if err := n.adopt(ctx); err != nil {
		return false, err
	}
	return n.head != nil && !last && time.Since(n.head.Time) < standby, nil
}

// advance reads the log up to a size and signs that.
func (n *Signer) advance(ctx context.Context, size int64) error {
	err := n.segment.Read(ctx, "", uint64(n.log.Size())+1, uint64(size), n.take)
	if err != nil {
		return err
	}
	if n.log.Size() < size {
		return n.missing(size)
	}
	n.short = time.Time{}
	previous := n.previous
	if n.head != nil {
		previous = n.head.Digest()
	}
	c := n.log.Checkpoint(n.origin(), time.Now(), previous)
	signed, err := c.Sign(n.Key)
	if err != nil {
		return err
	}
	revision, err := n.trail.AppendCheckpoint(ctx, n.segment, store.Checkpoint{Signed: string(signed), Subtrees: n.log.Subtrees()}, n.revision)
	if errors.Is(err, natsx.ErrRevision) { // another was first, or this one's answer was lost
		n.mine = false
		n.expect = append(n.expect, expected{c.Size, c.Root, "this router has read"})
		return n.adopt(ctx)
	}
	if err != nil {
		return err
	}
	n.head, n.revision, n.mine = &c, revision, true
	return nil
}

// missing says that the end of the log can't be read. Another replica of the stream may
// have it and this one not yet; what lasts is an alarm.
func (n *Signer) missing(size int64) error {
	if n.short.IsZero() {
		n.short = time.Now()
	}
	if time.Since(n.short) > patience {
		return alarmed("message %d of %s is missing", n.log.Size()+1, n.segment.Name())
	}
	return fmt.Errorf("%s has %d messages, of which %d can be read", n.segment.Name(), size, n.log.Size())
}

// take takes the next message of the segment.
func (n *Signer) take(rec natsx.Record) error {
	if want := uint64(n.log.Size()) + 1; rec.Sequence != want {
		return alarmed("message %d of %s is missing", want, n.segment.Name())
	}
	if err := n.log.Append(rec.Body); err != nil {
		return alarmed("message %d of %s on %s is no record of a router: %v", rec.Sequence, n.segment.Name(), rec.Subject, err)
	}
	return n.compare()
}

// compare looks whether the log, as it was read so far, has the roots that it must have.
func (n *Signer) compare() error {
	kept := n.expect[:0]
	for _, e := range n.expect {
		switch {
		case e.size > n.log.Size():
			kept = append(kept, e)
		case e.size == n.log.Size() && e.root != n.log.Root():
			return alarmed("%s the root %s at size %d of %s, and what is there has %s", e.who, e.root, e.size, n.segment.Name(), n.log.Root())
		}
	}
	n.expect = kept
	return nil
}
