package natsx

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/wire"
)

// replies receives the replies to all requests of a connection on one subscription. The client
// library has this feature too, but it makes reply subjects with math/rand, which can be predicted
// from a few of them, and accepts the first reply from anybody.
type replies struct {
	nc *nats.Conn

	mu      sync.Mutex // guards inbox and waiting
	inbox   string     // prefix of reply subjects, with the last dot; empty before the first request
	waiting map[string]*reply
}

// reply is an expected reply.
type reply struct {
	subject string                 // of the request
	accept  func(wire.Header) bool // nil for any
	arrived chan *nats.Msg         // closed if none will come
	failed  error                  // why none will come; set before arrived is closed
}

// expect returns the subject for the reply to one request on a subject, and the expected reply.
// Call stop when done.
func (r *replies) expect(subject string, accept func(wire.Header) bool) (inbox string, e *reply, stop func(), err error) {
	token, e := rand.Text(), &reply{subject: subject, accept: accept, arrived: make(chan *nats.Msg, 1)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inbox == "" {
		if err := r.subscribe(); err != nil {
			return "", nil, nil, err
		}
	}
	r.waiting[token] = e
	return r.inbox + token, e, func() { r.forget(token) }, nil
}

func (r *replies) subscribe() error {
	prefix := r.nc.Opts.InboxPrefix
	if prefix == "" {
		prefix = defaultInbox
	}
	inbox := prefix + "." + rand.Text() + "."
	if _, err := r.nc.Subscribe(inbox+"*", r.receive); err != nil {
		return mapError(err)
	}
	r.inbox, r.waiting = inbox, map[string]*reply{}
	go r.watch(r.nc.StatusChanged(nats.RECONNECTING, nats.CLOSED))
	return nil
}

// watch ends all waits when the connection is lost, since no reply will come. It runs until the
// connection is closed.
func (r *replies) watch(lost <-chan nats.Status) {
	for status := range lost {
		r.fail(ErrConnectionLost, func(string) bool { return true })
		if status == nats.CLOSED {
			return
		}
	}
}

// fail ends the waits for replies to requests on the subjects that on selects.
func (r *replies) fail(err error, on func(subject string) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for token, e := range r.waiting {
		if on(e.subject) {
			delete(r.waiting, token)
			e.failed = err
			close(e.arrived)
		}
	}
}

// forbidden returns the subject to which the server does not permit to publish. The server reports
// that as an error of the connection and sends no reply. Empty for another error.
func forbidden(err error) (subject string) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return ""
	}
	_, quoted, _ := strings.Cut(err.Error(), "for Publish to ")
	subject, _ = strconv.Unquote(quoted)
	return subject
}

// awaited reports whether a request on a subject waits for its reply.
func (r *replies) awaited(subject string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.waiting {
		if e.subject == subject {
			return true
		}
	}
	return false
}

// forbid ends the waits for replies to requests on a subject that [forbidden] returned.
func (r *replies) forbid(subject string, err error) {
	r.fail(fmt.Errorf("%w: %w", ErrPermission, err), func(on string) bool { return on == subject })
}

func (r *replies) forget(token string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.waiting, token)
}

// receive passes a reply to the waiting request. It drops a reply that is not accepted, since the
// right one may still come.
func (r *replies) receive(m *nats.Msg) {
	r.mu.Lock()
	defer r.mu.Unlock()
	token := strings.TrimPrefix(m.Subject, r.inbox)
	e := r.waiting[token]
	if e == nil || e.accept != nil && !noResponders(m) && !e.accept(m.Header) {
		return
	}
	delete(r.waiting, token)
	e.arrived <- m
}

// noResponders reports whether the message is the server's reply that there are no responders.
func noResponders(m *nats.Msg) bool {
	return len(m.Data) == 0 && m.Header.Get("Status") == "503"
}

// OwnsReply reports whether a subject is one for replies to this connection's requests. Nobody else
// should receive there.
func (c *Conn) OwnsReply(subject string) bool {
	if prefix := c.nc.Opts.InboxPrefix; prefix != "" && prefix != defaultInbox {
		return strings.HasPrefix(subject, prefix+".")
	}
	c.replies.mu.Lock()
	defer c.replies.mu.Unlock()
	return c.replies.inbox != "" && strings.HasPrefix(subject, c.replies.inbox)
}

// RequestBound is like [Conn.Request] but takes only a reply whose headers are accepted, and drops
// all others. A nil accept takes every reply. If the credentials name a router and another program
// answers, the error is [ErrImpostor]. With a [*wire.Error], the reply that contains it is returned
// too.
func (c *Conn) RequestBound(ctx context.Context, subject string, header wire.Header, body []byte, accept func(wire.Header) bool) (*Message, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err := c.check(ctx); err != nil {
		return nil, err
	}
	m, err := c.request(ctx, subject, header, body, accept)
	if err == nil && !c.checked() { // another server answered, after a reconnect
		return nil, ErrConnectionLost
	}
	return m, err
}

// request is RequestBound without the proof of the router.
func (c *Conn) request(ctx context.Context, subject string, header wire.Header, body []byte, accept func(wire.Header) bool) (*Message, error) {
	inbox, expected, stop, err := c.replies.expect(subject, accept)
	if err != nil {
		return nil, err
	}
	defer stop()
	if err := c.nc.PublishMsg(&nats.Msg{Subject: subject, Reply: inbox, Header: header, Data: body}); err != nil {
		return nil, mapError(err)
	}
	var over <-chan time.Time
	if until, ok := ctx.Deadline(); ok { // the context of a chain does not end by itself
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		over = timer.C
	}
	select {
	case m, ok := <-expected.arrived:
		if !ok {
			return nil, expected.failed
		}
		if noResponders(m) {
			return nil, ErrNoResponders
		}
		if e := wire.ReadError(m.Header); e != nil {
			return m, e
		}
		return m, nil
	case <-over:
		return nil, context.DeadlineExceeded
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
