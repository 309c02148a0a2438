package httpapi

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// crowd bounds the connections of a server. Where there are too many, the one goes that has
// had no request of somebody with a token for longest: strangers, and an agent's connections
// that are idle, shut no other agent out.
type crowd struct {
	limit int

	mu     sync.Mutex // guards what follows
	open   map[net.Conn]*list.Element
	unused list.List // net.Conn, the oldest first
}

type connKey struct{}

// bound has a server close connections beyond the limit.
func (c *crowd) bound(s *http.Server) {
	s.ConnState = c.changed
	s.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, conn)
	}
}

func (c *crowd) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		if c.open == nil {
			c.open = map[net.Conn]*list.Element{}
		}
		c.open[conn] = c.unused.PushBack(conn)
		if len(c.open) > c.limit {
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

func (c *crowd) drop(conn net.Conn) {
	c.forget(conn)
	_ = conn.Close()
}

func (c *crowd) forget(conn net.Conn) {
	if at := c.open[conn]; at != nil {
		c.unused.Remove(at)
	}
	delete(c.open, conn)
}

// use keeps the connection of a request open until it is idle.
func (c *crowd) use(r *http.Request) {
	conn, _ := r.Context().Value(connKey{}).(net.Conn)
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.open[conn]; at != nil {
		c.unused.Remove(at)
		c.open[conn] = nil
	}
}
