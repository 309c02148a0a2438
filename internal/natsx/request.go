package natsx

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/wire"
)

// ErrNoResponders means that there is no subscriber to the subject. The server reports it at once.
var ErrNoResponders = nats.ErrNoResponders

// ErrMaxPayload means that the message exceeds the server's maximum size. Nothing was sent.
var ErrMaxPayload = nats.ErrMaxPayload

// Message is one message: its subject, reply subject, headers and body.
type Message = nats.Msg

// Request sends one request and waits for one reply. The error is a [*wire.Error] if the reply is
// an error, [ErrNoResponders] if there is no subscriber, [ErrConnectionLost] if the connection was
// lost while waiting, [ErrPermission] if these credentials may not send the request, or the
// context's error.
func (c *Conn) Request(ctx context.Context, subject string, header wire.Header, body []byte) (*Message, error) {
	return c.RequestBound(ctx, subject, header, body, nil)
}

// Publish sends a message without expecting a reply.
func (c *Conn) Publish(subject string, header wire.Header, body []byte) error {
	return mapError(c.nc.PublishMsg(&nats.Msg{Subject: subject, Header: header, Data: body}))
}

// ErrDisconnected means that the connection is down. Nothing was sent.
var ErrDisconnected = errors.New("NATS is not connected: reconnecting")

// ErrConnectionLost means that the connection was lost before the reply came.
var ErrConnectionLost = errors.New("connection to NATS lost while waiting for the reply: the request may have taken effect")

// mapError replaces the client library's errors with those of this package.
func mapError(err error) error {
	if errors.Is(err, nats.ErrReconnectBufExceeded) {
		return ErrDisconnected
	}
	return err
}

// ErrPermission means that the user has no permission for a subject.
var ErrPermission = errors.New("NATS does not permit it")

// explain adds the permission violation that the server reported to the error of a request that
// timed out, since the server does not answer such a request.
func (c *Conn) explain(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		if last := c.nc.LastError(); errors.Is(last, nats.ErrPermissionViolation) {
			return fmt.Errorf("%w: %w: %w", ErrPermission, last, err)
		}
	}
	return mapError(err)
}

// UntilLost returns a context that is canceled with the given cause when the connection is lost,
// since no reply will come then. Call stop when done.
func (c *Conn) UntilLost(ctx context.Context, cause error) (_ context.Context, stop func()) {
	lost := c.nc.StatusChanged(nats.RECONNECTING, nats.CLOSED)
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-lost:
			cancel(cause)
		case <-ctx.Done():
		}
		c.nc.RemoveStatusListener(lost)
	}()
	return ctx, func() { cancel(nil) }
}

// Subscribe calls handle for each message on subject, one at a time, until stop is called.
func (c *Conn) Subscribe(subject string, handle func(*Message)) (stop func(), err error) {
	sub, err := c.nc.Subscribe(subject, handle)
	if err != nil {
		return nil, err
	}
	return func() { _ = sub.Unsubscribe() }, nil
}

// defaultInbox is the prefix of reply subjects of a connection without Options.Inbox.
const defaultInbox = "_INBOX"

// maxInbox is the maximum length of a reply subject. To reply to an agent, a router adds to it, and
// the server closes a connection that sends a line of more than 4096 bytes.
const maxInbox = 1024

// IsInbox reports whether it is safe to reply to a subject. The sender chooses it: with a subject
// that is not an inbox, it could make the router publish on its behalf.
func IsInbox(reply string) bool {
	return len(reply) <= maxInbox && (strings.HasPrefix(reply, "_INBOX") || strings.HasPrefix(reply, "_R_"))
}
