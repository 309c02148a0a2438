package service

import (
	"runtime/debug"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// job is a received request.
type job struct {
	ep     *endpoint
	req    *Request
	sender Sender // whose share it uses
}

// maxWaiting is the maximum number of requests of an endpoint that wait for their turn in
// goroutines. Further ones wait in the subscription.
const maxWaiting = 4096

// maxIdle is the maximum number of idle goroutines of a service.
const maxIdle = 128

// receive runs in the subscription's goroutine. It blocks only if [maxWaiting] requests wait for a
// handler.
func (s *Service) receive(ep *endpoint, req *Request) {
	m, shares := req.msg, ep.spec.Shares
	if m.Reply != "" && (!natsx.IsInbox(m.Reply) || s.conn.OwnsReply(m.Reply)) {
		s.dropped.Add(1)
		if req.sender == (Sender{}) { // agents must not be able to fill the log
			s.conn.Log().Warn("request dropped: its reply subject is not an inbox of the sender", "subject", m.Subject)
		}
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

// overloaded releases a request's share and returns the error to reply with.
func (j job) overloaded() *wire.Error {
	j.ep.spec.Shares.release(j.sender)
	return wire.Errorf(wire.Overloaded, "%d requests are under way, which is the limit: try again later", cap(j.ep.spec.Limiter))
}

func (s *Service) refuse(j job, e *wire.Error) {
	j.ep.count(time.Now(), e)
	j.req.replyError(e)
}

// wait answers a request in its turn.
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

// work answers a request, and then further ones if it may stay idle in between.
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

// handle runs the handler and returns the error to reply with, or nil.
func (s *Service) handle(ep *endpoint, req *Request) (e *wire.Error) {
	defer func() {
		if p := recover(); p != nil {
			s.conn.Log().Error("handler panicked", "endpoint", ep.spec.Name, "panic", p, "stack", string(debug.Stack()))
			e = wire.Errorf(wire.Internal, "%s failed: a defect, see the log", ep.spec.Name)
		}
	}()
	return wire.FromError(ep.spec.Handle(s.ctx, req))
}
