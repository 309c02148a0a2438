package web

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// ConnLimiter limits the connections of a server. Above the limit it closes the one that has
// had no request of somebody with a token for longest: strangers, and connections that are
// idle, shut nobody else out, and don't take the files that the process may open.
type ConnLimiter struct {
	Limit int

	mu     sync.Mutex // guards what follows
	open   map[net.Conn]*list.Element
	unused list.List // net.Conn, the oldest first
}

type trackedKey struct{}

// tracked is a connection and the limiter that counts it.
type tracked struct {
	limiter *ConnLimiter
	conn    net.Conn
}

// Attach has a server close connections beyond the limit.
func (c *ConnLimiter) Attach(s *http.Server) {
	s.ConnState = c.changed
	s.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, trackedKey{}, tracked{c, conn})
	}
}

func (c *ConnLimiter) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		if c.open == nil {
			c.open = map[net.Conn]*list.Element{}
		}
		c.open[conn] = c.unused.PushBack(conn)
		if len(c.open) > c.Limit {
			c.drop(c.unused.Front().Value.(net.Conn))
		}
	case http.StateIdle:
		if at, ok := c.open[conn]; ok && at == nil {
			c.open[conn] = c.unused.PushBack(conn)
		}
	case http.StateHijacked, http.StateClosed:
		c.forget(conn)
	case http.StateActive: // a byte came, from anybody
	}
}

func (c *ConnLimiter) drop(conn net.Conn) {
	c.forget(conn)
	_ = conn.Close()
}

func (c *ConnLimiter) forget(conn net.Conn) {
	if at := c.open[conn]; at != nil {
		c.unused.Remove(at)
	}
	delete(c.open, conn)
}

// Use keeps the connection of a request with a token open until it is idle.
func Use(r *http.Request) {
	at, ok := r.Context().Value(trackedKey{}).(tracked)
	if !ok {
		return
	}
	c := at.limiter
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.open[at.conn]; e != nil {
		c.unused.Remove(e)
		c.open[at.conn] = nil
	}
}
