// Package clientconn is the connection inside a hookrouter.Client: how pkg/worker,
// pkg/agent and pkg/approver send requests without the client exporting its transport.
//
// It is the one place that retries requests, notices a lost connection while a reply
// is awaited, and turns errors of the transport into those of pkg/hookrouter.
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
	// NewError makes the *hookrouter.Error of an error reply.
	NewError func(code int, text string) error
}

// Retry says which failures of a request lead to another try.
type Retry int

const (
	// IfUnserved retries for Conn.Patience while it is certain that nothing happened:
	// no router answers, it can't serve now (503), or NATS is not connected.
	IfUnserved Retry = iota
	// Idempotent retries until the context ends, also where a router is overloaded and
	// where an earlier try may have taken effect.
	Idempotent
	// Never sends the request once.
	Never
)

type eventIDKey struct{}

// WithEventID returns a context in which an agent sends its events under an id: one that was sent
// already. Without an id it returns ctx.
func WithEventID(ctx context.Context, id string) context.Context {
	if id == "" {
		return ctx
	}
	return context.WithValue(ctx, eventIDKey{}, id)
}

// EventID is the id of [WithEventID]; empty for none.
func EventID(ctx context.Context) string {
	id, _ := ctx.Value(eventIDKey{}).(string)
	return id
}

// Request is one request to a router.
type Request struct {
	Subject string
	Header  wire.Header
	Body    []byte
	Before  func() // called before each try and may change Header; nil for nothing
	Retry   Retry
	// Accept says whether a reply is one to this request, besides repeating its nonce;
	// nil for always.
	Accept func(wire.Header) bool
}

// Request sends a request, again where its Retry says so, and returns the reply. An
// error reply is a *hookrouter.Error. Other errors are the ones above and that of ctx.
func (c *Conn) Request(ctx context.Context, r Request) (*natsx.Message, error) {
	backoff := Backoff{Until: time.Now().Add(c.Patience)}
	if r.Retry == Idempotent {
		backoff.Until = time.Time{}
	}
	var last error // why the try before failed
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

// RequestJSON sends body as JSON, nil for none, and reads the reply into out unless
// that is nil.
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

// try sends a request once and waits for its reply while ctx and the connection last. A
// reply that does not repeat the nonce, which nobody but the router has seen, is not one
// to this request: somebody guessed the reply subject.
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

// unserved reports whether a request had no effect and may have one if sent again.
func unserved(err error) bool {
	return wire.CodeOf(err) == wire.Unavailable || errors.Is(err, natsx.ErrNoResponders) || errors.Is(err, natsx.ErrDisconnected)
}

// translate turns an error of the transport into one that pkg/hookrouter exports.
func (c *Conn) translate(subject string, err error) error {
	if reply, ok := errors.AsType[*wire.Error](err); ok {
		return c.NewError(reply.Code, reply.Text)
	}
	if errors.Is(err, natsx.ErrNoResponders) {
		return fmt.Errorf("%w on %s: start `hook-router`, see on its /readyz why it is not ready, or check the prefix", ErrNoRouter, subject)
	}
	return err
}
