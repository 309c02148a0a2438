package witness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// Options configure a witness.
type Options struct {
	// Signer is the witness's key, and Verifier its public half. It must not be a router's key.
	Signer   note.Signer
	Verifier note.Verifier
	// Routers are the keys of routers that sign checkpoints; at least one is required.
	Routers []note.Verifier
	// State is the witness's state file; its directory must exist.
	State string
	// Every is the interval of checks without new checkpoints, and of reports about signing; 0
	// means a minute.
	Every time.Duration
	// Grace is how long known content may be missing, as on a lagging replica; 0 means 15 s.
	Grace time.Duration
	// Retry is the pause after an error; 0 means 1 s.
	Retry time.Duration
	// Tell is called with each event; nil means no callback.
	Tell func(Event)
}

// Event is a message for the operator of a witness.
type Event struct {
	Time   time.Time `json:"time"`
	Kind   string    `json:"kind"` // started, signed, segment, warning, waiting, refused
	Text   string    `json:"text"` // for people
	Origin string    `json:"origin,omitempty"`
	Size   int64     `json:"size,omitempty"`
	Root   string    `json:"root,omitempty"`
	// Checkpoints is the number of checkpoints checked since the last event of this kind.
	Checkpoints int `json:"checkpoints,omitempty"`
}

// Witness watches one log. Call [Witness.Run].
type Witness struct {
	Options
	conn *natsx.Conn
	keys audit.Keys

	store   *store.Log
	kept    *memory    // the state file's content; nil before the first signature
	at      position   // position of the check; at kept or ahead of it
	log     *audit.Log // the log at position at
	own     *own       // the last published checkpoint of the segment
	missing absence    // zero if nothing is missing

	saved    time.Time // when kept was saved, or the witness started
	reported time.Time // when signing was reported
	checked  int       // checkpoints since then
	begun    bool      // the start was reported
	said     Event     // the last warning
}

// absence records how long content has been missing, and what can't be checked without it.
type absence struct {
	since    time.Time
	revision uint64 // of the first checkpoint that can't be checked; 0 if the log itself is missing
}

// position is a position in the history of checkpoints.
type position struct {
	segment  store.Segment // its Stream is nil if it was removed since
	created  time.Time     // of its stream
	revision uint64        // of the checkpoint
	signed   []byte        // as signed by the router; nil at the beginning
	head     audit.Checkpoint
	previous tlog.Hash // required predecessor of the next checkpoint
	unproven bool      // previous is unknown
	subtrees []tlog.Hash
}

// own is this witness's last publication for a segment.
type own struct {
	revision uint64
	head     *audit.Checkpoint // nil if it signed nothing
	met      bool              // it is in the checked history
}

// ErrTwice means that another process signs with the witness's key.
var ErrTwice = errors.New("another process signs with this witness's key: give each witness a key and a state file of its own")

// New returns a witness and reads its state. The error is a [Refusal] if the witness refused
// before.
func New(b *natsx.Conn, o Options) (*Witness, error) {
	o.Every, o.Grace, o.Retry = cmp.Or(o.Every, time.Minute), cmp.Or(o.Grace, 15*time.Second), cmp.Or(o.Retry, time.Second)
	if o.Tell == nil {
		o.Tell = func(Event) {}
	}
	w := &Witness{Options: o, conn: b, saved: time.Now(), keys: audit.Keys{Routers: o.Routers, Witnesses: []note.Verifier{o.Verifier}}}
	if err := w.keys.Check(); err != nil {
		return nil, err
	}
	if err := w.load(); err != nil {
		return nil, err
	}
	return w, nil
}

// Run watches the log until ctx ends, and then returns nil. The error is a [Refusal], [ErrTwice] or
// [ErrKey].
func (w *Witness) Run(ctx context.Context) error { return w.run(ctx, false) }

// Once processes the existing checkpoints, signs the last one and returns. Its error may also come
// from NATS.
func (w *Witness) Once(ctx context.Context) error { return w.run(ctx, true) }

func (w *Witness) run(ctx context.Context, once bool) error {
	for {
		err := w.session(ctx, once)
		if ctx.Err() != nil {
			return ended(ctx, once)
		}
		if err == nil {
			return nil
		}
		w.log = nil // it may be at its end: continue from kept
		if gone, ok := errors.AsType[*missing](err); ok {
			if w.missing.since.IsZero() {
				w.missing = absence{time.Now(), gone.revision}
			}
			if time.Since(w.missing.since) >= w.Grace {
				err = gone.refusal
			}
		}
		if refusal, ok := errors.AsType[*Refusal](err); ok {
			return w.refuse(refusal)
		}
		if errors.Is(err, ErrTwice) || errors.Is(err, ErrKey) || once && w.missing.since.IsZero() {
			return err
		}
		w.say("waiting", "%v: trying again", err)
		select {
		case <-time.After(w.Retry):
		case <-ctx.Done():
			return ended(ctx, once)
		}
	}
}

func ended(ctx context.Context, once bool) error {
	if once {
		return context.Cause(ctx)
	}
	return nil
}

// session watches the log until something fails.
func (w *Witness) session(ctx context.Context, once bool) (err error) {
	w.store, err = store.Attach(ctx, w.conn)
	if errors.Is(err, store.ErrNoLog) && w.kept != nil {
		return w.gone(nil, "the log is gone")
	}
	if err != nil {
		return err
	}
	if err := w.begin(ctx); err != nil {
		return err
	}
	for {
		if err := w.inspect(ctx); err != nil {
			return err
		}
		if w.missing.revision == 0 {
			w.missing = absence{}
		}
		if err := w.follow(ctx, once); err != nil || once || ctx.Err() != nil {
			return err
		}
		w.missing = absence{}
	}
}

// follow handles checkpoints for a while, or with once until there are no more.
func (w *Witness) follow(ctx context.Context, once bool) (err error) {
	defer func() {
		if gone, ok := errors.AsType[*missing](err); ok {
			gone.revision = w.at.revision + 1
		}
	}()
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	current := cancel
	if !once {
		current = func() {}
		stop := time.AfterFunc(w.Every, cancel)
		defer stop.Stop()
	}
	var refused error
	err = w.store.CheckpointNotes().Follow(inner, store.CheckpointSubject(w.conn, "*"), natsx.Start{Sequence: w.at.revision + 1}, func(rec natsx.Record) error {
		refused = w.take(ctx, rec)
		return refused
	}, current)
	switch {
	case refused != nil:
		return refused
	case inner.Err() == nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return w.commit(ctx)
}

// say reports an event, unless it repeats the last one.
func (w *Witness) say(kind, format string, args ...any) {
	e := Event{Time: time.Now().UTC(), Kind: kind, Text: fmt.Sprintf(format, args...)}
	if e.Kind == w.said.Kind && e.Text == w.said.Text && e.Time.Sub(w.said.Time) < w.Every {
		return
	}
	w.said = e
	w.tell(e)
}

// started reports that the log was found.
func (w *Witness) started(format string, args ...any) {
	if !w.begun {
		w.begun = true
		w.say("started", format, args...)
	}
}

// tell adds the position of the witness to an event.
func (w *Witness) tell(e Event) {
	if w.at.signed != nil {
		e.Origin, e.Size, e.Root = w.at.head.Origin, w.at.head.Size, w.at.head.Root.String()
	}
	w.Tell(e)
}
