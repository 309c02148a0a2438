package natsx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// ErrUnreachable means that no NATS server answers at the address.
var ErrUnreachable = errors.New("no answer")

// ErrCredentials means that the NATS server requires credentials and got none, or does not accept
// those that it got.
var ErrCredentials = errors.New("no valid credentials")

// ErrURL means that the address of the NATS server is malformed.
var ErrURL = errors.New("not a server address")

// DefaultURL is the default of [Options.URL].
const DefaultURL = nats.DefaultURL

// Conn is a connection, with the subjects of one prefix as methods.
type Conn struct {
	events.Subjects
	nc  *nats.Conn
	js  jetstream.JetStream
	log *slog.Logger

	replies replies // to requests of this connection
	proof   proof   // of the router at the other end
}

// Connect is [ConnectContext] without a deadline.
func Connect(o Options) (*Conn, error) { return ConnectContext(context.Background(), o) }

// ConnectContext opens a connection that reconnects forever. While it is disconnected, sends fail
// at once with [ErrDisconnected] and are not buffered. ctx bounds only the connecting. The caller
// must close the connection.
func ConnectContext(ctx context.Context, o Options) (*Conn, error) {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.URL = cmp.Or(o.URL, DefaultURL)
	if err := o.identify(); err != nil {
		return nil, err
	}
	nc, err := dial(ctx, o.URL, o.clientOptions())
	if err != nil {
		return nil, fmt.Errorf("connect to NATS at %s: %w", RedactURL(o.URL), hint(err, o.Creds))
	}
	c, err := New(nc, o.Prefix, o.Log)
	if err != nil {
		nc.Close()
		return nil, err
	}
	c.proof.server, c.proof.asking = o.server, make(chan struct{}, 1)
	report := nc.ErrorHandler()
	nc.SetErrorHandler(func(nc *nats.Conn, sub *nats.Subscription, err error) {
		subject := forbidden(err)
		if c.replies.awaited(subject) {
			err = returned{err}
		}
		report(nc, sub, err) // first: it may have a better error for the caller
		c.replies.forbid(subject, err)
	})
	return c, nil
}

// returned is an error of the connection that a request returned, and that need not be logged.
type returned struct{ error }

func (r returned) Unwrap() error { return r.error }

// dial connects, and returns when ctx ends. The client library takes no context: an attempt in
// flight continues for as long as [nats.Timeout] allows, and its connection is then closed.
func dial(ctx context.Context, url string, options []nats.Option) (*nats.Conn, error) {
	if ctx.Done() == nil {
		return nats.Connect(url, options...)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	type attempt struct {
		nc  *nats.Conn
		err error
	}
	done := make(chan attempt)
	go func() {
		nc, err := nats.Connect(url, options...)
		select {
		case done <- attempt{nc, err}:
		case <-ctx.Done():
			if nc != nil {
				nc.Close()
			}
		}
	}()
	select {
	case a := <-done:
		return a.nc, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// New wraps a connection that the caller owns. log may be nil.
func New(nc *nats.Conn, prefix string, log *slog.Logger) (*Conn, error) {
	log = cmp.Or(log, slog.New(slog.DiscardHandler))
	subjects, err := events.NewSubjects(prefix)
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, fmt.Errorf("use JetStream: %w", err)
	}
	return &Conn{Subjects: subjects, nc: nc, js: js, log: log, replies: replies{nc: nc}}, nil
}

// Conn returns the connection of the client library.
func (c *Conn) Conn() *nats.Conn { return c.nc }

// Log returns the logger of the connection. It is never nil.
func (c *Conn) Log() *slog.Logger { return c.log }

// Connected reports whether the connection is up.
func (c *Conn) Connected() bool { return c.nc.IsConnected() }

// OnReconnect calls do after every reconnect until stop is called. stop waits for a call in flight.
func (c *Conn) OnReconnect(do func()) (stop func()) {
	connected := c.nc.StatusChanged(nats.CONNECTED)
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case _, open := <-connected:
				if !open {
					return
				}
				do()
			case <-end:
				return
			}
		}
	}()
	return func() {
		close(end)
		<-done
		c.nc.RemoveStatusListener(connected)
	}
}

// MaxPayload returns the maximum size of a message for the server, including headers, in bytes.
func (c *Conn) MaxPayload() int64 { return c.nc.MaxPayload() }

// Close flushes published messages, for a second at most, and closes the connection.
func (c *Conn) Close() {
	if c.nc.IsConnected() {
		_ = c.nc.FlushTimeout(time.Second)
	}
	c.nc.Close()
}

// hint adds the remedy to an error of connecting with a credentials file, or with none.
func hint(err error, creds string) error {
	_, isNet := errors.AsType[net.Error](err)
	_, isFile := errors.AsType[*fs.PathError](err)
	address, isURL := errors.AsType[*url.Error](err)
	switch {
	case isURL && address.Op == "parse": // also a net.Error
		return fmt.Errorf("%w: %w", ErrURL, err)
	case isFile: // the credentials file; also a net.Error
		return fmt.Errorf("%w: %w", ErrCredentials, err)
	case errors.Is(err, nats.ErrNoServers):
		return fmt.Errorf("%w: %w: is a server running there? `hook-router up` starts one", ErrUnreachable, err)
	case isNet, errors.Is(err, nats.ErrTimeout):
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	case creds != "" && (errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired)):
		return fmt.Errorf("%w: %w: the server refuses those in %s: they were rotated or revoked, have expired, or are for another server",
			ErrCredentials, err, creds)
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired):
		return fmt.Errorf("%w: %w: the server requires credentials: those of hookctl auth, or of the router's own server, "+
			"which only its user can read", ErrCredentials, err)
	}
	return err
}

// RedactURL masks the credentials in server URLs.
func RedactURL(urls string) string {
	list := strings.Split(urls, ",")
	for i, u := range list {
		if at := strings.LastIndex(u, "@"); at >= 0 {
			scheme, _, found := strings.Cut(u, "://")
			if !found {
				scheme = "nats"
			}
			list[i] = scheme + "://***" + u[at:]
		}
	}
	return strings.Join(list, ",")
}
