package approvals

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nuid"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Options configure a desk. The zero value of each field is its default.
type Options struct {
	// MaxOpen is how many questions may be open; 0 means 50,000.
	MaxOpen int
	// MaxPerSession is the same for one session, and for all events without one; 0
	// means 100. Ten times as many may be kept, decided ones included.
	MaxPerSession int
	// MaxKept is how many bytes of questions may be kept; 0 means 4 GiB.
	MaxKept int64
	// ProvenOnly refuses answers from nobody that the connection proves.
	ProvenOnly bool
	// Remember is told of a decision that holds for the session, before anyone else
	// is; it may be told more than once. Nil for nobody.
	Remember func(context.Context, *Stored, approval.Decision) error
	// Decided is told of a question that this replica decided, with the context of who
	// did. Nil for nobody.
	Decided func(context.Context, *Stored, approval.Decision)
	// Mask is how a question is shown; nil shows it as it is.
	Mask func(*approval.Record)
	// MaskText is how what people and hooks say stands in the audit log; nil leaves
	// it as it is.
	MaskText func(string) string
	// Log; nil discards it.
	Log *slog.Logger
}

// Desk keeps the questions of all replicas, as one of them sees them. It is an
// [approval.Desk]. Run it.
type Service struct {
	Options
	bus    *natsx.Conn
	bucket *natsx.Bucket
	log    *store.Log

	replica string // tells this desk's time-outs from those of others

	mu        sync.Mutex // guards all below; never held while something is sent or read
	questions map[string]*entry
	open      int              // questions without a decision
	kept      int64            // bytes of all questions
	sessions  map[string]share // of open and kept, by session
	current   bool             // all that was there at the start is known
	applied   uint64           // the revision of the bucket that questions hold
	moved     chan struct{}    // closed when applied moves
	closing   bool
	watchers  map[*watcher]struct{}
	clock     clock
	jobs      jobs
	loaded    chan struct{}
	once      sync.Once
}

// entry is one question in memory. Its data is not there.
type entry struct {
	question approval.Request // without its text, once it is decided
	known    bool             // the question was seen; a decision may be seen first
	sent     string           // digest of the event's data
	size     int              // bytes that the store keeps of it
	decision *approval.Decision
	waiters  []*waiter
}

// share is what a session has of the desk.
type share struct{ open, kept int }

func (e *entry) pending() bool { return e.known && e.decision == nil }

// New makes a desk on its bucket and the audit log.
func New(b *natsx.Conn, bucket *natsx.Bucket, log *store.Log, o Options) *Service {
	if o.MaxOpen == 0 {
		o.MaxOpen = 50_000
	}
	if o.MaxPerSession == 0 {
		o.MaxPerSession = 100
	}
	if o.MaxKept == 0 {
		o.MaxKept = 4 << 30
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	d := &Service{
		Options: o, bus: b, bucket: bucket, log: log, replica: nuid.Next(),
		questions: map[string]*entry{}, sessions: map[string]share{}, watchers: map[*watcher]struct{}{},
		moved: make(chan struct{}), loaded: make(chan struct{}),
	}
	d.clock.wake, d.jobs.wake = make(chan struct{}, 1), make(chan struct{}, workers)
	return d
}

// Loaded is closed when the desk has seen everything that was open when it was
// started.
func (d *Service) Loaded() <-chan struct{} { return d.loaded }

func (d *Service) entry(id string) *entry {
	e := d.questions[id]
	if e == nil {
		e = &entry{}
		d.questions[id] = e
	}
	return e
}

// learn takes a question in, of which the store keeps so many bytes. The caller
// holds mu.
func (d *Service) learn(s *Stored, size int) {
	e := d.entry(s.ID)
	if e.known {
		return
	}
	e.known, e.question, e.sent, e.size = true, s.Request, s.Sent, size
	d.count(e, 1, 1)
	if e.decision != nil {
		d.closeOne(e)
		return
	}
	if d.current {
		d.begin(e)
		d.notify(approval.Notice{Request: e.question})
	}
}

// begin has a question decided when its time is over. The caller holds mu.
func (d *Service) begin(e *entry) {
	id := e.question.ID
	d.clock.at(e.question.Expires.Time, func() { d.jobs.put(job{do: d.expire, id: id}) })
}

// count counts an entry in, or out.
func (d *Service) count(e *entry, open, kept int) {
	d.open += open
	d.kept += int64(kept) * int64(e.size)
	s := d.sessions[e.question.Session]
	s.open += open
	s.kept += kept
	if s == (share{}) {
		delete(d.sessions, e.question.Session)
		return
	}
	d.sessions[e.question.Session] = s
}

// decided takes a decision in, as the stream has it. The caller holds mu.
func (d *Service) decided(id string, decision approval.Decision) {
	e := d.entry(id)
	if e.decision != nil {
		return
	}
	e.decision = &decision
	if e.known {
		d.closeOne(e)
	}
}

// closeOne does what a decision means to a question that was open. The caller
// holds mu.
func (d *Service) closeOne(e *entry) {
	d.count(e, -1, 0)
	if d.current {
		d.notify(approval.Notice{Request: e.question, Decision: e.decision})
	}
	if len(e.waiters) > 0 {
		d.jobs.put(job{do: d.tell, id: e.question.ID})
	}
	q := e.question
	e.question = approval.Request{ID: q.ID, Session: q.Session, Created: q.Created, Expires: q.Expires}
}

// forget lets go of a question that the store dropped. The caller holds mu.
func (d *Service) forget(id string) {
	e := d.questions[id]
	if e == nil {
		return
	}
	if e.known {
		open := 0
		if e.pending() {
			open = -1
		}
		d.count(e, open, -1)
	}
	delete(d.questions, id) // who waits is told that nothing is decided, when its time is over
}

// Pending lists what is open, as the store has it at this moment.
func (d *Service) Pending(ctx context.Context, f approval.Filter) ([]approval.Request, int, error) {
	if err := d.sync(ctx); err != nil {
		return nil, 0, err
	}
	d.mu.Lock()
	list := make([]approval.Request, 0, d.open)
	for _, e := range d.questions {
		if e.pending() && (f.Session == "" || e.question.Session == f.Session) {
			list = append(list, e.question)
		}
	}
	d.mu.Unlock()
	total := len(list)
	slices.SortFunc(list, func(a, b approval.Request) int {
		if c := a.Created.Compare(b.Created.Time); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	if f.Limit > 0 && total > f.Limit {
		list = list[:f.Limit]
	}
	for i := range list {
		list[i] = d.Masked(list[i])
	}
	return list, total, nil
}

// Masked is a question as it is shown.
func (d *Service) Masked(q approval.Request) approval.Request {
	if d.Mask == nil {
		return q
	}
	r := approval.Record{Request: q}
	d.Mask(&r)
	return r.Request
}

// syncTime bounds how long a list waits for what was stored before it was asked
// for.
const syncTime = 2 * time.Second

// sync waits until this replica has seen what the bucket holds.
func (d *Service) sync(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, syncTime)
	defer cancel()
	last, err := d.bucket.Last(ctx)
	if err != nil {
		return unavailable(err)
	}
	for {
		d.mu.Lock()
		applied, moved := d.applied, d.moved
		d.mu.Unlock()
		if applied >= last {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return wire.Errorf(wire.Unavailable, "this router has not caught up with the open questions: try again")
		}
	}
}

// Get returns all that is known of a question.
func (d *Service) Get(ctx context.Context, id string) (approval.Record, error) {
	s, err := d.load(ctx, id)
	if err != nil {
		return approval.Record{}, err
	}
	decision, err := d.decision(ctx, s)
	if err != nil {
		return approval.Record{}, err
	}
	r := s.Record
	r.Decision = decision
	if d.Mask != nil {
		d.Mask(&r)
	}
	return r, nil
}

// load reads a question from the store.
func (d *Service) load(ctx context.Context, id string) (*Stored, error) {
	if !validID(id) {
		return nil, unknown(id)
	}
	e, err := d.bucket.Get(ctx, id)
	if errors.Is(err, natsx.ErrNoKey) {
		return nil, unknown(id)
	}
	if err != nil {
		return nil, unavailable(err)
	}
	return decodeStored(e)
}

// decision reads what was decided, nil for nothing.
func (d *Service) decision(ctx context.Context, s *Stored) (*approval.Decision, error) {
	if known := d.known(s.ID); known != nil {
		return known, nil
	}
	line, err := d.winner(ctx, s.segment(), s.ID)
	if errors.Is(err, natsx.ErrNoKey) {
		return nil, nil
	}
	if err != nil {
		return nil, unavailable(err)
	}
	return &line.Decision, nil
}

// known is what this replica knows to be decided, nil for nothing.
func (d *Service) known(id string) *approval.Decision {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.questions[id]; e != nil {
		return e.decision
	}
	return nil
}

// winner reads the decision on a question that was asked in a segment of the log.
func (d *Service) winner(ctx context.Context, segment int, id string) (decisionLine, error) {
	rec, err := d.log.Decision(ctx, segment, id)
	if err != nil {
		return decisionLine{}, err
	}
	return decodeDecision(id, rec.Body), nil
}

// validID keeps what is no id away from subjects and keys.
func validID(id string) bool {
	return id != "" && len(id) <= 64 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

func unknown(id string) error {
	if len(id) > 64 {
		id = id[:64] + "..."
	}
	return wire.Errorf(wire.NotFound, "there is no question %q: it never was, or it was decided more than a day ago", id)
}

func unavailable(err error) error {
	if refusal, ok := errors.AsType[*wire.Error](err); ok {
		return refusal
	}
	return wire.Errorf(wire.Unavailable, "the approvals can't be reached: %v: try again", err)
}
