package service

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// What may wait on one subscription before it is received: the client library drops what
// exceeds it and reports that.
const (
	pendingMessages = 64 << 10
	pendingBytes    = 128 << 20
)

// Service answers on endpoints and to the discovery of NATS micro.
type Service struct {
	conn     *natsx.Conn
	id       string
	name     string
	version  string
	metadata map[string]string
	started  time.Time
	ctx      context.Context // of the handlers; ends with Stop
	cancel   context.CancelFunc

	mu        sync.Mutex // guards what follows
	endpoints []*endpoint
	draining  []*nats.Subscription // of removed endpoints, which may still have requests waiting

	discovery []*nats.Subscription
	inFlight  sync.WaitGroup
	dropped   atomic.Int64
	more      atomic.Pointer[func() map[string]string] // metadata of the moment; nil for none

	// A goroutine that is done with a request waits for the next one: its stack has grown
	// already.
	next    chan job
	idle    chan struct{} // a place for each that waits
	workers sync.WaitGroup
}

// job is one request that was received.
type job struct {
	ep     *endpoint
	req    *Request
	sender Sender // whose share it took
}

// maxWaiting is how many requests of an endpoint wait for their turn in goroutines; others wait in
// the subscription.
const maxWaiting = 4096

// maxIdle is how many goroutines of a service wait for a request.
const maxIdle = 128

// Start starts a service without endpoints; name and version are for discovery.
// metadata may be nil. Stop it.
func Start(conn *natsx.Conn, name, version string, metadata map[string]string) (*Service, error) {
	s := &Service{conn: conn, id: nuid.Next(), name: name, version: version, metadata: metadata, started: time.Now().UTC()}
	s.next, s.idle = make(chan job), make(chan struct{}, maxIdle)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err := s.discover(); err != nil {
		return nil, fmt.Errorf("serve %s: %w", name, err)
	}
	return s, nil
}

// Describe adds what more returns to the metadata, each time that somebody asks.
func (s *Service) Describe(more func() map[string]string) { s.more.Store(&more) }

// ID tells this service from others of the same name.
func (s *Service) ID() string { return s.id }

// Add starts to answer on an endpoint; the server knows when it returns. remove stops
// that and waits for nothing.
func (s *Service) Add(e Endpoint) (remove func(), err error) {
	ep := &endpoint{spec: e, waiting: make(chan struct{}, maxWaiting), byCode: map[int]int{}}
	ep.sub, err = s.conn.Conn().QueueSubscribe(e.Subject, e.Queue, func(m *nats.Msg) { s.receive(ep, m) })
	if err == nil {
		err = ep.sub.SetPendingLimits(pendingMessages, pendingBytes)
	}
	if err == nil {
		err = s.conn.Conn().FlushTimeout(5 * time.Second)
	}
	if err != nil {
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
	s.draining = slices.DeleteFunc(s.draining, func(sub *nats.Subscription) bool { return !sub.IsValid() })
	s.draining = append(s.draining, ep.sub)
	s.endpoints = slices.DeleteFunc(s.endpoints, func(e *endpoint) bool { return e == ep })
}

// Dropped is how many messages had a reply subject that is no inbox, or one of this
// connection's own.
func (s *Service) Dropped() int64 { return s.dropped.Load() }

// receive runs in the subscription's goroutine. It waits for a handler only if [maxWaiting] requests
// wait already.
func (s *Service) receive(ep *endpoint, m *nats.Msg) {
	req := newRequest(m, s.conn)
	shares := ep.spec.Shares
	if m.Reply != "" && (!natsx.IsInbox(m.Reply) || s.conn.OwnsReply(m.Reply)) {
		s.dropped.Add(1)
		s.conn.Log().Warn("request dropped: its reply subject is not an inbox of the sender", "subject", m.Subject)
		return
	}
	sender, e := shares.take(req)
	j := job{ep, req, sender}
	switch {
	case e != nil:
		shares.refuse(sender)
		s.refuse(j, e)
		return
	case ep.acquire():
	case ep.spec.Wait:
		s.wait(j)
		return
	default:
		s.refuse(j, j.overloaded())
		return
	}
	s.inFlight.Add(1)
	select {
	case s.next <- j: // a worker is idle
	default:
		s.workers.Go(func() { s.work(j) })
	}
}

// overloaded gives back a request's share and says why it is not run.
func (j job) overloaded() *wire.Error {
	j.ep.spec.Shares.release(j.sender)
	return wire.Errorf(wire.Overloaded, "%d requests are under way, which is the limit: try again later", cap(j.ep.spec.Limiter))
}

func (s *Service) refuse(j job, e *wire.Error) {
	j.ep.count(time.Now(), e)
	j.req.replyError(e)
}

// wait answers a request when its turn has come.
func (s *Service) wait(j job) {
	came := time.Now()
	select {
	case j.ep.waiting <- struct{}{}:
	case <-s.ctx.Done():
		s.refuse(j, j.overloaded())
		return
	}
	s.inFlight.Add(1)
	s.workers.Go(func() {
		mayRun := j.ep.turn(s.ctx)
		<-j.ep.waiting
		if !mayRun {
			defer s.inFlight.Done()
			s.refuse(j, j.overloaded())
			return
		}
		j.req.Waited = time.Since(came)
		s.work(j)
	})
}

// work answers a request, and then others while there is a place to wait for them.
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
	defer s.inFlight.Done()
	defer j.ep.spec.Shares.release(j.sender)
	defer j.ep.release()
	start := time.Now()
	e := s.handle(j.ep, j.req)
	j.ep.count(start, e)
	if e != nil {
		j.ep.spec.Shares.refuse(j.sender)
		j.req.replyError(e)
	}
}

// handle returns the error to reply with, nil for none.
func (s *Service) handle(ep *endpoint, req *Request) (e *wire.Error) {
	defer func() {
		if p := recover(); p != nil {
			s.conn.Log().Error("handler panicked", "endpoint", ep.spec.Name, "panic", p)
			e = wire.Errorf(wire.Internal, "%s failed: a defect, see the log", ep.spec.Name)
		}
	}()
	return wire.FromError(ep.spec.Handle(s.ctx, req))
}

// Stop receives nothing more, waits until what was received is answered or ctx ends, and
// then ends the handlers' context.
func (s *Service) Stop(ctx context.Context) error {
	defer s.cancel()
	s.mu.Lock()
	subs := slices.Concat(s.discovery, s.draining)
	for _, ep := range s.endpoints {
		subs = append(subs, ep.sub)
	}
	s.mu.Unlock()
	if err := s.drain(ctx, subs); err != nil {
		return fmt.Errorf("stop %s: %w", s.name, err)
	}
	done := make(chan struct{})
	go func() { s.inFlight.Wait(); close(done) }()
	select {
	case <-done:
		s.cancel()
		s.workers.Wait() // all are idle
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop %s: requests are still under way: %w", s.name, ctx.Err())
	}
}

// drain unsubscribes and waits until what had arrived is received. If the connection is
// lost meanwhile, nothing can arrive any more.
func (s *Service) drain(ctx context.Context, subs []*nats.Subscription) error {
	lost := s.conn.Conn().StatusChanged(nats.CLOSED, nats.DISCONNECTED, nats.RECONNECTING)
	defer s.conn.Conn().RemoveStatusListener(lost)
	var closed []<-chan nats.SubStatus
	for _, sub := range subs {
		ch := sub.StatusChanged(nats.SubscriptionClosed)
		if sub.Drain() == nil {
			closed = append(closed, ch)
		}
	}
	if !s.conn.Connected() {
		return nil
	}
	for _, ch := range closed {
		select {
		case <-ch:
		case <-lost:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
