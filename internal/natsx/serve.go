package natsx

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
)

// What may wait on one subscription before it is taken: what comes beyond it is
// dropped by the client library and reported.
const (
	pendingMessages = 64 << 10
	pendingBytes    = 128 << 20
)

// Endpoint is one subject that a service answers on.
type Endpoint struct {
	// Name of the endpoint, for discovery.
	Name string
	// Subject to listen on; may have wildcards.
	Subject string
	// Queue is the queue group; empty means that every replica gets each message.
	Queue string
	// Slots bound how many requests are under way; endpoints may share them. Nil
	// means no limit. When none is free, with Wait the next request waits for its
	// turn, else it is refused with 429.
	Slots Limiter
	Wait  bool
	// Refused is told the code of each request that was refused, by Handle or for want
	// of a slot, before its answer is sent. It must not wait. Nil for nobody.
	Refused func(code int)
	// Data is what STATS of the discovery says of this endpoint besides its counts;
	// nil for nothing.
	Data func() any
	// Handle answers one request, in a goroutine of its own. Its error is sent as a
	// refusal; a nil error without a reply sends nothing.
	Handle func(context.Context, *Request) error
}

// Slots are places for requests under way.
type Limiter chan struct{}

// NewSlots makes n places.
func NewLimiter(n int) Limiter { return make(Limiter, n) }

// Service answers on endpoints and to the discovery of NATS micro.
type Service struct {
	bus       *Conn
	id        string
	name      string
	version   string
	metadata  map[string]string
	started   time.Time
	ctx       context.Context
	cancel    context.CancelFunc
	mu        sync.Mutex // guards endpoints
	endpoints []*endpoint
	leaving   []*nats.Subscription // of removed endpoints, which may still have requests waiting
	discovery []*nats.Subscription
	taken     sync.WaitGroup
	dropped   atomic.Int64

	// Goroutines that are done with a request wait a while for the next, since a
	// stack that has grown is worth keeping.
	next    chan job
	idle    chan struct{} // a place for each that waits
	workers sync.WaitGroup
}

// job is one request that was taken.
type job struct {
	ep  *endpoint
	req *Request
}

// maxIdle is how many goroutines of a service wait for a request.
const maxIdle = 128

type endpoint struct {
	Endpoint
	sub      *nats.Subscription
	requests atomic.Int64
	nanos    atomic.Int64

	mu      sync.Mutex // guards what follows
	errors  int
	last    string
	refused map[int]int // by code
}

// Request is one request that a service took.
type Request struct {
	*nats.Msg
	bus *Conn
}

// Serve starts a service without endpoints; name and version are for discovery.
// metadata may be nil. Stop it.
func (b *Conn) Serve(name, version string, metadata map[string]string) (*Service, error) {
	s := &Service{bus: b, id: nuid.Next(), name: name, version: version, metadata: metadata, started: time.Now().UTC()}
	s.next, s.idle = make(chan job), make(chan struct{}, maxIdle)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err := s.discover(); err != nil {
		return nil, fmt.Errorf("serve %s: %w", name, err)
	}
	return s, nil
}

// ID tells this service from others of the same name.
func (s *Service) ID() string { return s.id }

// Add starts to answer on an endpoint. When it returns, the server knows. The
// returned function stops answering on it and waits for nothing.
func (s *Service) Add(e Endpoint) (remove func(), err error) {
	ep := &endpoint{Endpoint: e, refused: map[int]int{}}
	ep.sub, err = s.bus.conn.QueueSubscribe(e.Subject, e.Queue, func(m *nats.Msg) { s.take(ep, m) })
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", e.Subject, err)
	}
	if err := ep.sub.SetPendingLimits(pendingMessages, pendingBytes); err != nil {
		return nil, fmt.Errorf("listen on %s: %w", e.Subject, err)
	}
	if err := s.bus.conn.FlushTimeout(5 * time.Second); err != nil {
		return nil, fmt.Errorf("listen on %s: %w", e.Subject, err)
	}
	s.mu.Lock()
	s.endpoints = append(s.endpoints, ep)
	s.mu.Unlock()
	return func() { s.remove(ep) }, nil
}

func (s *Service) remove(ep *endpoint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = ep.sub.Drain()
	s.leaving = slices.DeleteFunc(s.leaving, func(sub *nats.Subscription) bool { return !sub.IsValid() })
	s.leaving = append(s.leaving, ep.sub)
	for i, e := range s.endpoints {
		if e == ep {
			s.endpoints = append(s.endpoints[:i:i], s.endpoints[i+1:]...)
			return
		}
	}
}

// Dropped is how many messages had a reply subject that is no inbox.
func (s *Service) Dropped() int64 { return s.dropped.Load() }

// take runs in the subscription's goroutine: it must not wait for a handler.
func (s *Service) take(ep *endpoint, m *nats.Msg) {
	if m.Reply != "" && !IsInbox(m.Reply) {
		s.dropped.Add(1)
		s.bus.log.Warn("dropped a request whose reply subject is no inbox", "subject", m.Subject)
		return
	}
	req := &Request{m, s.bus}
	if !ep.enter(s.ctx) {
		refusal := wire.Errorf(wire.Overloaded, "%d requests are under way, which is the limit: try again later", cap(ep.Slots))
		ep.count(time.Now(), refusal)
		req.refuse(refusal)
		return
	}
	s.taken.Add(1)
	j := job{ep, req}
	select {
	case s.next <- j: // somebody waits
	default:
		s.workers.Go(func() { s.work(j) })
	}
}

// work answers a request, and then others for as long as there is a place to
// wait for them.
func (s *Service) work(j job) {
	for {
		s.answer(j)
		select {
		case s.idle <- struct{}{}:
		default:
			return
		}
		select {
		case j = <-s.next:
			<-s.idle
		case <-s.ctx.Done():
			return
		}
	}
}

func (s *Service) answer(j job) {
	defer s.taken.Done()
	start := time.Now()
	refusal := s.handle(j.ep, j.req)
	j.ep.count(start, refusal)
	if refusal != nil {
		j.req.refuse(refusal)
	}
	if j.ep.Slots != nil {
		<-j.ep.Slots
	}
}

func (ep *endpoint) enter(ctx context.Context) bool {
	if ep.Slots == nil {
		return true
	}
	select {
	case ep.Slots <- struct{}{}:
		return true
	default:
	}
	if !ep.Wait {
		return false
	}
	select {
	case ep.Slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// handle returns the refusal that is to be sent, nil for none.
func (s *Service) handle(ep *endpoint, req *Request) (refusal *wire.Error) {
	defer func() {
		if p := recover(); p != nil {
			s.bus.log.Error("a handler panicked", "endpoint", ep.Name, "panic", p)
			refusal = wire.Errorf(wire.Internal, "%s failed: a defect, see the log", ep.Name)
		}
	}()
	return wire.FromError(ep.Handle(s.ctx, req))
}

// count runs before a refusal is sent: who was refused finds it counted.
func (ep *endpoint) count(start time.Time, refusal *wire.Error) {
	ep.requests.Add(1)
	ep.nanos.Add(int64(time.Since(start)))
	if refusal == nil {
		return
	}
	if ep.Refused != nil {
		ep.Refused(refusal.Code)
	}
	ep.mu.Lock()
	defer ep.mu.Unlock()
	ep.errors++
	ep.last = refusal.Error()
	ep.refused[refusal.Code]++
}

// Sender is who sent a request through a service import of another account, as
// the server says, or "". What says it means something only where the reply
// subject is one that the server made, and where it stands once and alone: a sender
// can smuggle a header of the same name past the server, beside the server's own or
// before a bare blank line that hides it.
func (r *Request) Sender() string {
	if !strings.HasPrefix(r.Msg.Reply, "_R_.") {
		return ""
	}
	text, n := "", 0
	for name, values := range r.Header {
		if strings.EqualFold(strings.TrimSpace(name), headerRequestInfo) {
			n += len(values)
			text = values[0]
		}
	}
	var info struct {
		Account string `json:"acc"`
		User    string `json:"user"`
	}
	if n != 1 || hidden(r.Msg) >= leastInfo || json.Unmarshal([]byte(text), &info) != nil || info.Account == "" {
		return ""
	}
	return strings.TrimSuffix("nats "+info.Account+"/"+info.User, "/")
}

// leastInfo is the size of the shortest header that the server says it with.
const leastInfo = len(headerRequestInfo + `: {"acc":"A"}` + "\r\n\r\n")

// hidden is the most that may stand, in bytes, behind the headers that could be
// read: what came, without the least that those take. A status in the first line is
// read as headers, which it is much shorter than.
func hidden(m *nats.Msg) int {
	left := m.Size() - len(m.Subject) - len(m.Reply) - len(m.Data) - len("NATS/1.0\n\n")
	for name, values := range m.Header {
		if name == "Status" || name == "Description" {
			continue
		}
		for _, value := range values {
			left -= len(name) + len(value) + len(":\n")
		}
	}
	return left
}

// headerRequestInfo is what the server says of a request through an import.
const headerRequestInfo = "Nats-Request-Info"

// Reply answers. Without a reply subject nobody is told. An answer that is too
// large for the server becomes a refusal with 413.
func (r *Request) Reply(header wire.Header, body []byte) error {
	if r.Msg.Reply == "" {
		return nil
	}
	err := r.bus.conn.PublishMsg(&nats.Msg{Subject: r.Msg.Reply, Header: header, Data: body})
	if errors.Is(err, nats.ErrMaxPayload) {
		return wire.Errorf(wire.TooLarge, "the answer has %d bytes, more than the server's max_payload of %d: raise max_payload or send less",
			len(body), r.bus.MaxPayload())
	}
	return away(err)
}

func (r *Request) refuse(refusal *wire.Error) {
	if r.Msg.Reply == "" {
		r.bus.log.Debug("refused a message that nobody waits for", "subject", r.Subject, "refusal", refusal.Text)
	}
	if err := r.Reply(refusal.Header(), nil); err != nil {
		r.bus.log.Warn("could not send a refusal", "refusal", refusal.Text, "error", err)
	}
}

// Stop takes nothing more, waits until what was taken is answered or ctx ends,
// and then ends the handlers' context.
func (s *Service) Stop(ctx context.Context) error {
	defer s.cancel()
	s.mu.Lock()
	subs := slices.Concat(s.discovery, s.leaving)
	for _, ep := range s.endpoints {
		subs = append(subs, ep.sub)
	}
	s.mu.Unlock()
	if err := s.drain(ctx, subs); err != nil {
		return fmt.Errorf("stop %s: %w", s.name, err)
	}
	done := make(chan struct{})
	go func() { s.taken.Wait(); close(done) }()
	select {
	case <-done:
		s.cancel()
		s.workers.Wait() // all are idle
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop %s: requests are still under way: %w", s.name, ctx.Err())
	}
}

// drain takes nothing more on the subscriptions and waits until what had come is
// taken. Where the connection goes meanwhile, nothing can come any more.
func (s *Service) drain(ctx context.Context, subs []*nats.Subscription) error {
	gone := s.bus.conn.StatusChanged(nats.CLOSED, nats.DISCONNECTED, nats.RECONNECTING)
	defer s.bus.conn.RemoveStatusListener(gone)
	var closed []<-chan nats.SubStatus
	for _, sub := range subs {
		ch := sub.StatusChanged(nats.SubscriptionClosed)
		if sub.Drain() == nil {
			closed = append(closed, ch)
		}
	}
	if !s.bus.Connected() {
		return nil
	}
	for _, ch := range closed {
		select {
		case <-ch:
		case <-gone:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
