package httpapi

import (
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/hookrouter/hookrouter/internal/api/web"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// Limits of one agent.
const (
	maxOpen    = 512      // open requests, including those that wait for a person
	maxReading = 16 << 20 // bytes of the bodies that are read at a time

	refusalDelay = time.Second
)

// senders counts the open requests of senders.
type senders struct {
	mu   sync.Mutex // guards open
	open map[string]*openRequests
}

// openRequests are those of one sender.
type openRequests struct {
	count   int
	reading *semaphore.Weighted // bytes of bodies
}

// take counts an open request of the call's sender, and keeps its connection open until leave is
// called.
func (c *call) take() (leave func(), err error) {
	leave, err = c.tryTake()
	c.slowDown(err)
	return leave, err
}

func (c *call) tryTake() (leave func(), err error) {
	s := &c.senders
	s.mu.Lock()
	defer s.mu.Unlock()
	open := s.open[c.sender]
	if open == nil {
		open = &openRequests{reading: semaphore.NewWeighted(maxReading)}
		s.open[c.sender] = open
	}
	if open.count >= maxOpen {
		return nil, wire.Errorf(wire.Overloaded, "%d requests of this agent are open, which is the limit: try again later", maxOpen)
	}
	open.count++
	c.reading = open.reading
	done := web.Use(c.r)
	return func() {
		done()
		s.mu.Lock()
		defer s.mu.Unlock()
		if open.count--; open.count == 0 {
			delete(s.open, c.sender)
		}
	}, nil
}

// slowDown delays the refusal of an agent that sends too much: if it retried at once, it would take
// processing time from others.
func (c *call) slowDown(err error) {
	if wire.CodeOf(err) != wire.Overloaded {
		return
	}
	select {
	case <-time.After(refusalDelay):
	case <-c.r.Context().Done():
	}
}

// reserve counts a body against the bytes that are read at a time from the agent. A body of unknown
// size counts as the largest. Requests without a valid token have a limit of their own.
func (c *call) reserve(limit int) (release func(), err error) {
	if c.reading == nil {
		return func() {}, nil
	}
	size := min(int64(limit), maxReading)
	if sent := c.r.ContentLength; sent >= 0 {
		size = min(size, sent)
	}
	if !c.reading.TryAcquire(size) {
		err = wire.Errorf(wire.Overloaded, "requests of this agent are sending %d bytes, which is the limit: try again later", maxReading)
		c.slowDown(err)
		return nil, err
	}
	return func() { c.reading.Release(size) }, nil
}
