package natsx

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/nats-io/nats.go"
)

// ErrNoResponders means that nobody subscribes to the subject; it is known at once.
var ErrNoResponders = nats.ErrNoResponders

// ErrMaxPayload means that the server takes no message of so many bytes; nothing was sent.
var ErrMaxPayload = nats.ErrMaxPayload

// Message is one message: its subject, reply subject, headers and body.
type Message = nats.Msg

// Request sends one request and waits for the one reply. The error is a
// [*wire.Error] if the other side answered with one, [ErrNoResponders] if nobody
// subscribes, [ErrConnectionLost] where the connection was lost meanwhile, [ErrPermission]
// where these credentials may not send it, and the context's error when its time is over.
func (c *Conn) Request(ctx context.Context, subject string, header wire.Header, body []byte) (*Message, error) {
	return c.RequestBound(ctx, subject, header, body, nil)
}

// Publish sends a message that nobody answers.
func (c *Conn) Publish(subject string, header wire.Header, body []byte) error {
	return mapError(c.nc.PublishMsg(&nats.Msg{Subject: subject, Header: header, Data: body}))
}

// ErrDisconnected means that the connection is down at the moment: nothing was sent.
var ErrDisconnected = errors.New("NATS is not connected: reconnecting")

// ErrConnectionLost means that the connection was lost before the reply came.
var ErrConnectionLost = errors.New("connection to NATS lost while waiting for the reply: the request may have taken effect")

// mapError gives the client library's error for that its name here.
func mapError(err error) error {
	if errors.Is(err, nats.ErrReconnectBufExceeded) {
		return ErrDisconnected
	}
	return err
}

// ErrPermission means that this user has no right to a subject.
var ErrPermission = errors.New("NATS does not permit it")

// explain adds the permission violation that the server reported meanwhile to an error
// of a request that timed out: the server does not answer such a request.
func (c *Conn) explain(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		if last := c.nc.LastError(); errors.Is(last, nats.ErrPermissionViolation) {
			return fmt.Errorf("%w: %w: %w", ErrPermission, last, err)
		}
	}
	return mapError(err)
}

// UntilLost returns a context that is canceled with the given cause when the connection
// is lost: no reply will come then. Call stop when done.
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

// Subscribe calls handle for each message on subject, one after the other, until stop is
// called.
func (c *Conn) Subscribe(subject string, handle func(*Message)) (stop func(), err error) {
	sub, err := c.nc.Subscribe(subject, handle)
	if err != nil {
		return nil, err
	}
	return func() { _ = sub.Unsubscribe() }, nil
}

// defaultInbox is the prefix of reply subjects where a connection has none of its own.
const defaultInbox = "_INBOX"

// IsInbox reports whether a reply subject may be answered to. The sender chooses it, and
// anything but an inbox would let a sender make the router publish in its name.
func IsInbox(reply string) bool {
	return strings.HasPrefix(reply, "_INBOX") || strings.HasPrefix(reply, "_R_")
}
