// Package clientconn is the connection of a hookrouter.Client. Through it, pkg/worker, pkg/agent
// and pkg/approver send requests, so that the client need not export its transport.
//
// It retries requests, detects a lost connection while it waits for a reply, and converts errors of
// the transport to those of pkg/hookrouter.
package clientconn

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// The errors of a request that pkg/hookrouter exports.
var (
	ErrNoRouter       = errors.New("no router answers")
	ErrDisconnected   = natsx.ErrDisconnected
	ErrConnectionLost = natsx.ErrConnectionLost
)

// Of returns the connection of a *hookrouter.Client. Package hookrouter sets it.
var Of func(client any) *Conn

// Conn is the connection of a client. It is safe for concurrent use.
type Conn struct {
	Transport *natsx.Conn
	Name      string        // of the program; may be empty
	Patience  time.Duration // how long to retry while no router can serve
	Log       *slog.Logger
	// NewError returns the *hookrouter.Error for an error reply.
	NewError func(code int, text string) error
}

// Retry determines which failures of a request are retried.
type Retry int

const (
	// IfUnserved retries for up to Conn.Patience if the request certainly had no effect: no router
	// answers, the router can't serve now (503), or NATS is not connected.
	IfUnserved Retry = iota
	// Idempotent retries until the context ends, even if a router is overloaded or an earlier attempt
	// may have had an effect.
	Idempotent
	// Never does not retry.
	Never
)

type eventIDKey struct{}

// WithEventID returns a context in which an agent sends its event with the id of an event that was
// already sent. If id is empty, it returns ctx.
func WithEventID(ctx context.Context, id string) context.Context {
	if id == "" {
		return ctx
	}
	return context.WithValue(ctx, eventIDKey{}, id)
}

// EventID returns the id of [WithEventID]; empty for none.
func EventID(ctx context.Context) string {
	id, _ := ctx.Value(eventIDKey{}).(string)
	return id
}

// Request is one request to a router.
type Request struct {
	Subject string
	Header  wire.Header
	Body    []byte
	Before  func() // called before each attempt and may change Header; may be nil
	Retry   Retry
	// Accept reports whether a reply with the right nonce is for this request; nil accepts all.
	Accept func(wire.Header) bool
}

// Request sends a request, with retries according to its Retry, and returns the reply. An error
// reply is returned as a *hookrouter.Error. Other errors include those above and that of ctx.
func (c *Conn) Request(ctx context.Context, r Request) (*natsx.Message, error) {
	backoff := Backoff{Until: time.Now().Add(c.Patience)}
	if r.Retry == Idempotent {
		backoff.Until = time.Time{}
	}
	var last error // error of the previous attempt
	for {
		if r.Before != nil {
			r.Before()
		}
		msg, err := c.try(ctx, r)
		if err == nil {
			return msg, nil
		}
		again := r.Retry.applies(err)
		err = c.translate(r.Subject, err)
		if last != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			err = fmt.Errorf("%w: %w", err, last)
		}
		if !again || backoff.Wait(ctx) != nil {
			return nil, err
		}
		last = err
	}
}

// RequestJSON sends body as JSON unless it is nil, and decodes the reply into out unless that is
// nil.
func (c *Conn) RequestJSON(ctx context.Context, r Request, body, out any) (*natsx.Message, error) {
	if body != nil {
		var err error
		if r.Body, err = json.Marshal(body); err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
	}
	msg, err := c.Request(ctx, r)
	if err != nil {
		return nil, err
	}
	if out == nil {
		return msg, nil
	}
	if err := json.Unmarshal(msg.Data, out); err != nil {
		return nil, fmt.Errorf("decode the reply: %w", err)
	}
	return msg, nil
}

// try sends a request once and waits for its reply until ctx ends or the connection is lost. It
// ignores a reply without the nonce of the request, which only the router has seen: such a reply is
// forged by somebody who guessed the reply subject.
func (c *Conn) try(ctx context.Context, r Request) (*natsx.Message, error) {
	nonce := rand.Text()
	header := make(wire.Header, len(r.Header)+1)
	maps.Copy(header, r.Header)
	header[wire.HeaderNonce] = []string{nonce}
	return c.Transport.RequestBound(ctx, r.Subject, header, r.Body, func(reply wire.Header) bool {
		return wire.Get(reply, wire.HeaderNonce) == nonce && (r.Accept == nil || r.Accept(reply))
	})
}

// applies reports whether to send the request again after an error.
func (r Retry) applies(err error) bool {
	switch r {
	case IfUnserved:
		return unserved(err)
	case Idempotent:
		return unserved(err) || wire.CodeOf(err) == wire.Overloaded || errors.Is(err, ErrConnectionLost)
	case Never:
	}
	return false
}

// unserved reports whether a request certainly had no effect, and may succeed if sent again.
func unserved(err error) bool {
	return wire.CodeOf(err) == wire.Unavailable || errors.Is(err, natsx.ErrNoResponders) || errors.Is(err, natsx.ErrDisconnected)
}

// translate converts an error of the transport to one that pkg/hookrouter exports.
func (c *Conn) translate(subject string, err error) error {
	if reply, ok := errors.AsType[*wire.Error](err); ok {
		return c.NewError(reply.Code, reply.Text)
	}
	if errors.Is(err, natsx.ErrNoResponders) {
		return fmt.Errorf("%w on %s: start `hook-router`, see on its /readyz why it is not ready, or check the prefix", ErrNoRouter, subject)
	}
	return err
}
