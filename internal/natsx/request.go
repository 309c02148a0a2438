package natsx

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/nats-io/nats.go"
)

// ErrNoResponders means that nobody listens on the subject; it is known at once.
var ErrNoResponders = nats.ErrNoResponders

// Message is one message: its subject, reply subject, headers and body.
type Message = nats.Msg

// Request sends one request and waits for the one reply. The error is a
// *[Refusal] where the other side refused, [ErrNoResponders] where nobody is
// there, and the context's error where its time was over.
func (b *Conn) Request(ctx context.Context, subject string, header wire.Header, body []byte) (*Message, error) {
	reply, err := b.conn.RequestMsgWithContext(ctx, &nats.Msg{Subject: subject, Header: header, Data: body})
	if err != nil {
		if errors.Is(err, nats.ErrTimeout) {
			err = context.DeadlineExceeded
		}
		return nil, away(err)
	}
	if refusal := wire.ReadError(reply.Header); refusal != nil {
		return nil, refusal
	}
	return reply, nil
}

// Publish sends a message that nobody answers.
func (b *Conn) Publish(subject string, header wire.Header, body []byte) error {
	return away(b.conn.PublishMsg(&nats.Msg{Subject: subject, Header: header, Data: body}))
}

// ErrAway means that the connection is down at the moment: nothing was sent.
var ErrDisconnected = errors.New("NATS is not connected: reconnecting")

// away gives the client library's error for that a name that says so.
func away(err error) error {
	if errors.Is(err, nats.ErrReconnectBufExceeded) {
		return ErrDisconnected
	}
	return err
}

// ErrNotAllowed means that this user has no right to a subject.
var ErrPermission = errors.New("NATS does not permit it")

// why adds to an error what the server has said meanwhile, where that explains it: that
// this user has no right to a subject. The server answers such a request with nothing.
func (b *Conn) why(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		if last := b.conn.LastError(); errors.Is(last, nats.ErrPermissionViolation) {
			return fmt.Errorf("%w: %w: %w", ErrPermission, last, err)
		}
	}
	return away(err)
}

// UntilLost returns a context that ends with the connection, its cause then
// being the given one: what is waited for will not come. Call stop when done.
func (b *Conn) UntilLost(ctx context.Context, cause error) (_ context.Context, stop func()) {
	lost := b.conn.StatusChanged(nats.RECONNECTING, nats.CLOSED)
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-lost:
			cancel(cause)
		case <-ctx.Done():
		}
		b.conn.RemoveStatusListener(lost)
	}()
	return ctx, func() { cancel(nil) }
}

// Subscribe calls handle for each message on subject, one after the other, until
// the returned function is called.
func (b *Conn) Subscribe(subject string, handle func(*Message)) (stop func(), err error) {
	sub, err := b.conn.Subscribe(subject, handle)
	if err != nil {
		return nil, err
	}
	return func() { _ = sub.Unsubscribe() }, nil
}

// IsInbox reports whether a reply subject may be answered to. It is chosen by
// the sender, and anything but an inbox would let a sender make the router
// publish in its name.
func IsInbox(reply string) bool {
	return strings.HasPrefix(reply, "_INBOX") || strings.HasPrefix(reply, "_R_")
}
