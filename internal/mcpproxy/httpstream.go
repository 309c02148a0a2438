package mcpproxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Limits for reopening the streams of a server over HTTP.
const (
	shortestWait = time.Second // before a stream is reopened
	longestWait  = 30 * time.Second
	resumptions  = 5 // of the stream of one request
)

// follow reads the stream of a request until the response. A broken stream is resumed if the server
// sent event ids.
func (r *remote) follow(ctx context.Context, m message, stream io.Reader) error {
	place, err := r.read(m, stream)
	for range resumptions {
		if !r.proxy.requests.isSent(m.key) {
			return nil
		}
		if place.id == "" {
			break
		}
		if waited := place.wait(ctx); waited != nil {
			return waited
		}
		var resp *http.Response
		if resp, err = r.get(ctx, place.id); err != nil {
			continue
		}
		place, err = r.read(m, resp.Body)
		_ = resp.Body.Close()
	}
	if !r.proxy.requests.isSent(m.key) {
		return nil
	}
	return fmt.Errorf("the stream ended without a response: %w", err)
}

// listen reads the stream of messages that the server sends on its own, until the proxy ends. A
// server without such a stream answers 405.
func (r *remote) listen() {
	r.mu.Lock()
	listens := r.listens
	r.listens = true
	r.mu.Unlock()
	if listens {
		return
	}
	place := place{}
	for r.ctx.Err() == nil {
		resp, err := r.get(r.ctx, place.id)
		if errors.Is(err, errNoStream) {
			return
		}
		if err == nil {
			next, _ := r.read(message{}, resp.Body) // a stream may end at any time
			_ = resp.Body.Close()
			if next.id != "" {
				place = next
			}
		}
		if place.wait(r.ctx) != nil {
			return
		}
	}
}
