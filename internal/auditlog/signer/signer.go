package signer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

const (
	standby     = 3 * time.Second // age of another router's checkpoint at which this one takes over
	readGrace   = time.Minute     // for messages that can't be read
	signTimeout = 30 * time.Second
	lastTimeout = 2 * time.Second // for the last checkpoint
)

// Options configure a signer.
type Options struct {
	// Key signs; Verifier is its public half. Both are required.
	Key      note.Signer
	Verifier note.Verifier
	// Upgraded reports whether every router knows [audit.Latest]; nil means never.
	Upgraded func() bool
	// Interval is how often the signer looks for new records; 0 means a second.
	Interval time.Duration
	// Alarm is called once for each violation, which is another history than the signed one or a
	// malformed message, and once more when its segment is closed. Nil means no callback.
	Alarm func(reason string)
	// Log gets alarms and failures; nil discards them.
	Log *slog.Logger
}

// Signer signs checkpoints. [Signer.Run] runs it.
type Signer struct {
	Options
	store *store.Log

	segment   store.Segment
	log       *audit.Log        // what was read of it; nil while no segment is open
	head      *audit.Checkpoint // the segment's last known checkpoint, nil for none
	revision  uint64            // of head in the stream of checkpoints
	digest    tlog.Hash         // of the last checkpoint, in any segment or format
	mine      bool              // this signer wrote head
	adopted   time.Time         // when head became known, if another router wrote it
	expect    []expected        // roots to match when the log is read again
	alarms    map[string]bool   // already passed on
	violation string            // the last alarm
	unsigned  atomic.Int64      // number of the segment that it was about, 0 for none
	shortFrom time.Time         // since when the end of the log can't be read
	abandoned reason            // why this segment is not signed
	waiting   time.Time         // since when the segment waits for its format
	said      string            // logged reason for an older format
}

// reason says why a signer does not sign a segment; empty if it does.
type reason string

const (
	notWhatWasSigned reason = "it is not what was signed"
	laterFormat      reason = "its format is newer than this version knows"
)

// expected is a root that somebody signed, or that this signer computed.
type expected struct {
	size   int64
	format audit.Format
	root   tlog.Hash
	who    string
}

// New makes a signer of a log.
func New(l *store.Log, o Options) *Signer {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Interval = cmp.Or(o.Interval, time.Second)
	if o.Alarm == nil {
		o.Alarm = func(string) {}
	}
	if o.Upgraded == nil {
		o.Upgraded = func() bool { return false }
	}
	return &Signer{Options: o, store: l, alarms: map[string]bool{}}
}

// Run signs until ctx ends, and then once more for the last records.
func (s *Signer) Run(ctx context.Context) {
	tick := time.NewTicker(s.Interval)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
			s.look(ctx, false)
		case <-ctx.Done():
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTimeout)
	defer cancel()
	s.look(last, true)
}

// look signs what is new. last does not wait for other routers.
func (s *Signer) look(ctx context.Context, last bool) {
	ctx, cancel := context.WithTimeout(ctx, signTimeout)
	defer cancel()
	err := s.sign(ctx, last)
	alarm, isAlarm := errors.AsType[*alarm](err)
	switch {
	case isAlarm:
		s.abandoned, s.violation = notWhatWasSigned, alarm.reason
		s.unsigned.Store(int64(s.segment.Number))
		if s.raise(alarm.reason) {
			s.Log.Error("ALARM: the audit log is not what was signed; no more checkpoints", "reason", alarm.reason)
		}
	case err != nil && ctx.Err() == nil:
		s.Log.Warn("audit log not signed; trying again", "error", err)
	}
}

// raise passes an alarm on once, and reports whether it was new.
func (s *Signer) raise(reason string) (isNew bool) {
	if isNew = !s.alarms[reason]; isNew {
		s.alarms[reason] = true
		s.Alarm(reason)
	}
	return isNew
}

// Alarmed reports whether an alarm keeps this signer from signing the live segment.
func (s *Signer) Alarmed() bool { return s.unsigned.Load() == int64(s.store.Live().Number) }

// alarm is a violation.
type alarm struct{ reason string }

func (a *alarm) Error() string { return a.reason }

func alarmed(format string, args ...any) error { return &alarm{fmt.Sprintf(format, args...)} }

// sign walks through the segments while there is something to sign.
func (s *Signer) sign(ctx context.Context, last bool) error {
	if s.log == nil && s.abandoned == "" {
		if err := s.begin(ctx); err != nil {
			return err
		}
	}
	for {
		if s.abandoned != "" {
			if left, err := s.leave(ctx); !left || err != nil {
				return err
			}
			continue
		}
		state, err := s.store.State(ctx, s.segment)
		if err != nil {
			return err
		}
		if int64(state.Last) > s.size() {
			if wait, err := s.standBy(ctx, last); wait || err != nil {
				return err
			}
			if s.abandoned != "" {
				continue
			}
		}
		if int64(state.Last) > s.size() { // another router may have signed it meanwhile
			if err := s.advance(ctx, int64(state.Last), last); err != nil {
				return err
			}
		}
		if !state.Sealed || s.size() < int64(state.Last) {
			return nil
		}
		if live, err := s.isLive(ctx); live || err != nil {
			return err
		}
		if err := s.next(ctx); err != nil {
			return err
		}
	}
}

// size returns the size of the last known checkpoint.
func (s *Signer) size() int64 {
	if s.head == nil {
		return 0
	}
	return s.head.Size
}

// standBy reports whether another router is signing.
func (s *Signer) standBy(ctx context.Context, last bool) (wait bool, err error) {
	if s.mine {
		return false, nil
	}
	if err := s.adopt(ctx); err != nil {
		return false, err
	}
	return s.head != nil && !last && s.quiet() < standby, nil
}

// quiet returns how long no router has signed: the age of the last checkpoint, or how long this
// signer has known it if that is longer. The clock of the router that signed it may be ahead.
func (s *Signer) quiet() time.Duration {
	return max(time.Since(s.head.Time), time.Since(s.adopted))
}

// advance reads the log up to a size and signs that.
func (s *Signer) advance(ctx context.Context, size int64, last bool) error {
	format, wait, err := s.format(ctx, last)
	if wait || err != nil {
		return err
	}
	if err := s.segment.Read(ctx, "", uint64(s.log.Size())+1, uint64(size), s.take); err != nil {
		return err
	}
	if s.log.Size() < size {
		return s.missing(size)
	}
	s.shortFrom = time.Time{}
	c := s.log.Checkpoint(format, s.origin(), time.Now(), s.digest)
	signed, err := c.Sign(s.Key)
	if err != nil {
		return err
	}
	revision, err := s.store.AppendCheckpoint(ctx, s.segment, store.Checkpoint{Signed: string(signed), Subtrees: s.log.Subtrees(format)}, s.revision)
	if errors.Is(err, natsx.ErrRevision) { // another router was first, or the reply was lost
		s.mine = false
		s.expect = append(s.expect, expected{c.Size, c.Format, c.Root, "this router has read"})
		return s.adopt(ctx)
	}
	if err != nil {
		return err
	}
	s.log.SetFormat(format)
	s.head, s.revision, s.digest, s.mine = &c, revision, c.Digest(), true
	return nil
}

// missing reports that the end of the log can't be read. This replica of the stream may lag, so
// only a lasting failure is an alarm.
func (s *Signer) missing(size int64) error {
	if s.shortFrom.IsZero() {
		s.shortFrom = time.Now()
	}
	if time.Since(s.shortFrom) > readGrace {
		return alarmed("message %d of %s is missing", s.log.Size()+1, s.segment.Name())
	}
	return fmt.Errorf("%s has %d messages, of which %d can be read", s.segment.Name(), size, s.log.Size())
}

// take adds the next message of the segment.
func (s *Signer) take(rec natsx.Record) error {
	if want := uint64(s.log.Size()) + 1; rec.Sequence != want {
		return alarmed("message %d of %s is missing", want, s.segment.Name())
	}
	if err := s.log.Append(audit.Message{Subject: rec.Subject, Stored: rec.Time, Body: rec.Body}); err != nil {
		return alarmed("message %d of %s on %s is not a record of a router: %v", rec.Sequence, s.segment.Name(), rec.Subject, err)
	}
	return s.compare()
}

// compare checks the log, as far as it is read, against the expected roots.
func (s *Signer) compare() error {
	kept := s.expect[:0]
	for _, e := range s.expect {
		switch size := s.log.Size(); {
		case e.size > size:
			kept = append(kept, e)
		case s.log.Format() != 0 && s.log.Format() != e.format: // its root is unknown here
		case e.size == size && e.root != s.log.Root(e.format):
			return alarmed("%s the root %s at size %d of %s, but the log has %s", e.who, e.root, e.size, s.segment.Name(), s.log.Root(e.format))
		}
	}
	s.expect = kept
	return nil
}
