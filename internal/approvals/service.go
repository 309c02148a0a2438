package approvals

import (
	"cmp"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nuid"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Options configure a service. The zero value of each field is its default, unless it is required.
type Options struct {
	// MaxOpen bounds the open approval requests; 0 means 50,000. A proven agent may have a tenth
	// of them, but at least MaxPerSession, and a tenth of MaxKept.
	MaxOpen int
	// MaxPerSession bounds those of one session, and those of all events without a session
	// together; 0 means 100. Ten times as many may be stored, including decided ones.
	MaxPerSession int
	// MaxKept bounds the size of all stored approval requests, in bytes; 0 means 4 GiB.
	MaxKept int64
	// People counts the approvals of requests that require several. Required.
	People People
	// Sessions are those of the agents that wait. Required.
	Sessions Sessions
	// ProvenOnly refuses answers whose sender the connection does not prove.
	ProvenOnly bool
	// Mask masks an approval request for display. Required.
	Mask func(*approval.Record)
	// MaskText masks what people and hooks wrote, for the audit log. Required.
	MaskText func(string) string
	// Log gets failures; nil discards them.
	Log *slog.Logger
}

// Service is one replica's view of the shared approval requests. It is an [approval.Service].
// [Service.Bind] completes it, and [Service.Run] runs it.
type Service struct {
	options    Options
	dispatcher Dispatcher
	conn       *natsx.Conn
	bucket     *natsx.Bucket
	log        *store.Log
	replica    string // distinguishes this replica's timeouts from those of others

	time   natsx.Clock
	clock  clock
	jobs   jobs
	loaded chan struct{}
	once   sync.Once // closes loaded

	mu       sync.Mutex // guards the fields below; never held during I/O
	entries  map[string]*entry
	open     int             // entries without a decision
	kept     int64           // bytes of all entries in the store
	sessions map[string]load // by session
	agents   map[string]load // by proven agent
	current  bool            // everything that was stored at the start is known
	applied  uint64          // the bucket revision that entries reflect
	moved    chan struct{}   // closed and replaced when applied moves
	closing  bool
	watchers map[*watcher]struct{}
}

// New makes a service on its bucket and the audit log. It decides nothing before [Service.Bind].
func New(c *natsx.Conn, bucket *natsx.Bucket, log *store.Log, o Options) *Service {
	o.MaxOpen = cmp.Or(o.MaxOpen, 50_000)
	o.MaxPerSession = cmp.Or(o.MaxPerSession, 100)
	o.MaxKept = cmp.Or(o.MaxKept, 4<<30)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	s := &Service{
		options: o, conn: c, bucket: bucket, log: log, replica: nuid.Next(),
		entries: map[string]*entry{}, sessions: map[string]load{}, agents: map[string]load{}, watchers: map[*watcher]struct{}{},
		moved: make(chan struct{}), loaded: make(chan struct{}),
	}
	s.clock.wake, s.jobs.wake = make(chan struct{}, 1), make(chan struct{}, workers)
	return s
}

// Bind sets the dispatcher, which is made after the service. Call it before [Service.Run] and
// before the first answer.
func (s *Service) Bind(d Dispatcher) { s.dispatcher = d }

// Now is the time by which deadlines are set and checked: that of NATS, since the clocks of
// replicas may differ.
func (s *Service) Now() time.Time { return s.time.Now() }

// Loaded is closed when the service knows everything that was open when it was started.
func (s *Service) Loaded() <-chan struct{} { return s.loaded }

// Empty reports whether this replica knows no approval request.
func (s *Service) Empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.entries) == 0
}

// Masked returns an approval request as it is displayed.
func (s *Service) Masked(q approval.Request) approval.Request {
	r := approval.Record{Request: q}
	s.options.Mask(&r)
	return r.Request
}

// retryPause is the pause before a retry.
const retryPause = 250 * time.Millisecond
