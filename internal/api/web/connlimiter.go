package web

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// ConnLimiter limits the connections of a server. Above the limit it closes the one that has been
// without a request in [Use] for longest, so that unauthenticated clients, idle connections and
// refused requests neither lock out others nor use up the file descriptors of the process.
type ConnLimiter struct {
	Limit int

	mu     sync.Mutex // guards the fields below
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

// Attach makes a server close connections beyond the limit.
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
	case http.StateActive, http.StateIdle: // only Use knows which connections are in use
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

// Use keeps the connection of a request open until done is called. After that, the rest of the
// request does not count as use.
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
