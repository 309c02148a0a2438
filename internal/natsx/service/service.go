package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// Limits of the messages that wait on one subscription. The client library drops messages beyond
// them, and reports it.
const (
	pendingMessages = 64 << 10
	pendingBytes    = 128 << 20
)

// Service serves endpoints and answers the discovery of NATS micro.
type Service struct {
	conn     *natsx.Conn
	id       string
	name     string
	version  string
	metadata map[string]string
	started  time.Time
	ctx      context.Context // of the handlers; ends with Stop
	cancel   context.CancelFunc

	mu        sync.Mutex // guards the fields below
	endpoints []*endpoint
	draining  []*nats.Subscription // of removed endpoints that may still have waiting requests

	discovery []*nats.Subscription
	inFlight  sync.WaitGroup
	dropped   atomic.Int64
	more      atomic.Pointer[func() map[string]string] // returns additional metadata; nil for none

	// Goroutines that have finished a request wait for another one, since their stacks have already
	// grown.
	next    chan job
	idle    chan struct{} // one element for each idle goroutine
	workers sync.WaitGroup
}

// Start starts a service without endpoints. name, version and metadata, which may be nil, are for
// discovery. Call [Service.Stop].
func Start(conn *natsx.Conn, name, version string, metadata map[string]string) (*Service, error) {
	s := &Service{conn: conn, id: nuid.Next(), name: name, version: version, metadata: metadata, started: time.Now().UTC()}
	s.next, s.idle = make(chan job), make(chan struct{}, maxIdle)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err := s.discover(); err != nil {
		return nil, fmt.Errorf("serve %s: %w", name, err)
	}
	return s, nil
}

// Describe adds the result of more to the metadata, for each discovery request.
func (s *Service) Describe(more func() map[string]string) { s.more.Store(&more) }

// ID returns the id that distinguishes this service from others of the same name.
func (s *Service) ID() string { return s.id }

// Add starts to serve an endpoint. When it returns, the server has the subscription; the error is
// [natsx.ErrPermission] if the server does not permit it. remove ends it without waiting.
func (s *Service) Add(e Endpoint) (remove func(), err error) {
	ep := &endpoint{spec: e, waiting: make(chan struct{}, maxWaiting), byCode: map[int]int{}}
	if err := s.listen(ep, e.Subject, newRequest); err != nil {
		return nil, err
	}
	if e.Imported {
		err := s.listen(ep, s.conn.Of("from", "*", strings.TrimPrefix(e.Subject, s.conn.Of(""))), newImported)
		if err != nil && !errors.Is(err, natsx.ErrPermission) {
			return nil, err
		}
	}
	s.mu.Lock()
	s.endpoints = append(s.endpoints, ep)
	s.mu.Unlock()
	return func() { s.remove(ep) }, nil
}

// listen subscribes an endpoint to a subject. When it returns, the server has the subscription.
func (s *Service) listen(ep *endpoint, subject string, read func(*nats.Msg, *natsx.Conn) *Request) error {
	sub, err := s.conn.Conn().QueueSubscribe(subject, ep.spec.Queue, func(m *nats.Msg) { s.receive(ep, read(m, s.conn)) })
	if err == nil {
		err = sub.SetPendingLimits(pendingMessages, pendingBytes)
	}
	if err == nil {
		err = s.conn.Conn().FlushTimeout(5 * time.Second)
	}
	if err == nil {
		err = s.forbidden(subject)
	}
	if err != nil {
		return fmt.Errorf("listen on %s: %w", subject, err)
	}
	ep.subs = append(ep.subs, sub)
	return nil
}

// forbidden returns an error if the server has refused a subscription. The server says so before it
// answers a flush.
func (s *Service) forbidden(subject string) error {
	err := s.conn.Conn().LastError()
	if errors.Is(err, nats.ErrPermissionViolation) && strings.Contains(err.Error(), "Subscription to "+strconv.Quote(subject)) {
		return fmt.Errorf("%w: %w", natsx.ErrPermission, err)
	}
	return nil
}

func (s *Service) remove(ep *endpoint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sub := range ep.subs {
		_ = sub.Drain()
	}
	s.draining = slices.DeleteFunc(s.draining, func(sub *nats.Subscription) bool { return !sub.IsValid() })
	s.draining = append(s.draining, ep.subs...)
	s.endpoints = slices.DeleteFunc(s.endpoints, func(e *endpoint) bool { return e == ep })
}

// Dropped returns the number of messages that were dropped because their reply subject is not an
// inbox, or is one of this connection.
func (s *Service) Dropped() int64 { return s.dropped.Load() }

// Stop stops receiving, waits until all received requests are answered or ctx ends, and then ends
// the handlers' context.
func (s *Service) Stop(ctx context.Context) error {
	defer s.cancel()
	s.mu.Lock()
	subs := slices.Concat(s.discovery, s.draining)
	for _, ep := range s.endpoints {
		subs = append(subs, ep.subs...)
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
		s.workers.Wait() // all are idle by now
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop %s: requests are still under way: %w", s.name, ctx.Err())
	}
}

// drain unsubscribes and waits until all messages that had arrived are received, or the connection
// is lost.
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
