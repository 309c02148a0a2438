package web

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// ConnLimiter limits the connections of a server. Above the limit it closes the one that has
// been without a request in [Use] for longest: strangers, connections that are idle, and requests
// that were refused shut nobody else out, and don't take the files that the process may open.
type ConnLimiter struct {
	Limit int

	mu     sync.Mutex // guards what follows
	open   map[net.Conn]*connection
	unused list.List // net.Conn, the oldest first
}

// connection is an open connection.
type connection struct {
	uses int           // requests in use; several with HTTP/2
	at   *list.Element // in unused; nil while there is one
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
			c.open = map[net.Conn]*connection{}
		}
		c.open[conn] = &connection{at: c.unused.PushBack(conn)}
		if len(c.open) > c.Limit {
			c.drop(c.unused.Front().Value.(net.Conn))
		}
	case http.StateHijacked, http.StateClosed:
		c.forget(conn)
	case http.StateActive, http.StateIdle: // who has sent something, only Use knows
	}
}

func (c *ConnLimiter) drop(conn net.Conn) {
	c.forget(conn)
	_ = conn.Close()
}

func (c *ConnLimiter) forget(conn net.Conn) {
	if at := c.open[conn]; at != nil && at.at != nil {
		c.unused.Remove(at.at)
	}
	delete(c.open, conn)
}

// Use keeps the connection of a request open until done is called. What the client still sends of
// the request then is no use of it.
func Use(r *http.Request) (done func()) {
	t, ok := r.Context().Value(trackedKey{}).(tracked)
	if !ok {
		return func() {}
	}
	t.limiter.count(t.conn, 1)
	return func() { t.limiter.count(t.conn, -1) }
}

// count adds to the uses of a connection, unless it was closed or hijacked.
func (c *ConnLimiter) count(conn net.Conn, uses int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.open[conn]
	if at == nil {
		return
	}
	at.uses += uses
	switch {
	case at.uses == 0:
		at.at = c.unused.PushBack(conn)
	case at.at != nil:
		c.unused.Remove(at.at)
		at.at = nil
	}
}
