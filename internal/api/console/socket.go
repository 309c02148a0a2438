package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/hookrouter/hookrouter/internal/wire"
)

const (
	maxQueued    = 256              // events, and decisions, that wait for a socket
	pingEvery    = 20 * time.Second // so that proxies keep an idle socket
	writeTimeout = 10 * time.Second // for a message; a pong too
	goodbye      = time.Second      // for a message in progress and the closing handshake when the console closes
)

// outbox queues what a socket still has to send. Adding to it never blocks.
type outbox struct {
	ready chan struct{} // holds one element while the outbox is not empty

	mu        sync.Mutex // guards the fields below
	approvals []byte     // the newest list, unless it was sent
	decisions [][]byte
	events    [][]byte
	lost      int // events dropped since the last report
}

func newOutbox() *outbox { return &outbox{ready: make(chan struct{}, 1)} }

// put changes the outbox and signals that it is not empty.
func (o *outbox) put(change func()) {
	o.mu.Lock()
	change()
	o.mu.Unlock()
	select {
	case o.ready <- struct{}{}:
	default:
	}
}

func (o *outbox) list(text []byte) { o.put(func() { o.approvals = text }) }

// decision queues a decision and drops the oldest if there are too many: the next list omits closed
// requests anyway.
func (o *outbox) decision(text []byte) {
	o.put(func() { o.decisions, _ = push(o.decisions, text) })
}

func (o *outbox) event(text []byte) {
	o.put(func() {
		var dropped int
		o.events, dropped = push(o.events, text)
		o.lost += dropped
	})
}

func push(queue [][]byte, text []byte) (_ [][]byte, dropped int) {
	if len(queue) >= maxQueued {
		queue[0] = nil
		queue, dropped = queue[1:], 1
	}
	return append(queue, text), dropped
}

// next returns the next message, or nil. A decision comes before the list without its approval
// request.
func (o *outbox) next() (text []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case len(o.decisions) > 0:
		text, o.decisions = o.decisions[0], o.decisions[1:]
	case o.approvals != nil:
		text, o.approvals = o.approvals, nil
	case o.lost > 0:
		text, o.lost = fmt.Appendf(nil, `{"type":"lost","count":%d}`, o.lost), 0
	case len(o.events) > 0:
		text, o.events = o.events[0], o.events[1:]
	}
	return text
}

// live answers GET /v1/events: a WebSocket that only sends.
func (c *Console) live(w http.ResponseWriter, r *http.Request) {
	done, ok := c.enter()
	if !ok {
		c.refuse(w, r, errStopping)
		return
	}
	defer done()
	out, leave, ok := c.feed.join()
	if !ok {
		c.refuse(w, r, wire.Errorf(wire.Unavailable, "%d WebSockets are open already: close one, or try again later", maxSockets))
		return
	}
	defer leave()
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{socketProtocol}})
	if err != nil {
		return // Accept has answered
	}
	defer func() { _ = conn.CloseNow() }()
	gone := conn.CloseRead(context.Background()) // ends with the connection
	token, _ := bearer(r)
	if _, end := c.access.ofSession(token, time.Time{}); !end.IsZero() {
		var cancel func()
		gone, cancel = context.WithDeadline(gone, end)
		defer cancel()
	}
	code, why := websocket.StatusGoingAway, "the router is stopping"
	if !c.serve(gone, conn, out) {
		if !errors.Is(gone.Err(), context.DeadlineExceeded) {
			return
		}
		code, why = websocket.StatusPolicyViolation, "the session is over"
	}
	stop := context.AfterFunc(c.grace, func() { _ = conn.CloseNow() })
	defer stop()
	_ = conn.Close(code, why)
}

// serve sends until the connection is gone, its session is over, or the console closes, which it
// reports.
func (c *Console) serve(gone context.Context, conn *websocket.Conn, out *outbox) (closing bool) {
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return true
		case <-gone.Done():
			return false
		case <-ping.C:
			if err := c.within(conn.Ping); err != nil {
				return false
			}
		case <-out.ready:
			for text := out.next(); text != nil && c.ctx.Err() == nil && gone.Err() == nil; text = out.next() {
				err := c.within(func(ctx context.Context) error { return conn.Write(ctx, websocket.MessageText, text) })
				if err != nil {
					return false
				}
			}
		}
	}
}

// within runs an operation that the peer may delay, for a bounded time.
func (c *Console) within(do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(c.grace, writeTimeout)
	defer cancel()
	return do(ctx)
}
