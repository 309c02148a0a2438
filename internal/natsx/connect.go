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
	"sync/atomic"
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

// Options configure a connection. The zero value connects to the default URL.
type Options struct {
	// URL is that of the servers, comma-separated; empty means nats://127.0.0.1:4222.
	URL string
	// Prefix is the first token of every subject; empty means "hooks".
	Prefix string
	// Name is that of the connection, for the server's monitoring.
	Name string
	// InProcess is an embedded server to connect to without a socket. It takes precedence over URL.
	InProcess InProcess
	// Inbox is the prefix of reply subjects, beginning with _INBOX; empty means _INBOX. Connections
	// with the same prefix can read each other's replies.
	Inbox string
	// Creds is the path of a NATS credentials file; empty for none.
	Creds string
	// Token and Seed are a user's JWT and the seed of its key, as an alternative to Creds.
	Token, Seed string
	// CredsFromEnv takes the credentials file that NATS_CREDS names if no other option provides
	// credentials, except of an embedded server.
	CredsFromEnv bool
	// Role is the identity to look up among the contexts of the nats command line if no other
	// option provides credentials: see [natscontext.Find]. Empty means none.
	Role string
	// Getenv reads NATS_CREDS and locates these contexts; nil means [os.Getenv].
	Getenv func(string) string
	// NATS are additional options: user, token, TLS, inbox prefix.
	NATS []nats.Option
	// Log gets disconnects and errors of the connection; nil discards them.
	Log *slog.Logger

	server string // public key of the router that the credentials name
}

// InProcess is a server in this process that connects without a socket.
type InProcess = nats.InProcessConnProvider

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

// Time-outs of one attempt to connect. The client library's default of 2 s is too short on a loaded
// machine. A server in this process is always there: only load delays it.
const (
	connectTimeout   = 5 * time.Second
	inProcessTimeout = 30 * time.Second
)

// clientOptions returns the options of the client library.
func (o *Options) clientOptions() []nats.Option {
	var undiscovered atomic.Bool
	options := []nats.Option{
		nats.Name(o.Name),
		nats.Timeout(connectTimeout),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(250 * time.Millisecond),
		nats.ReconnectJitter(100*time.Millisecond, 250*time.Millisecond),
		nats.ReconnectBufSize(-1),
		nats.PingInterval(5 * time.Second),
		nats.MaxPingsOutstanding(2),
		nats.DrainTimeout(30 * time.Second),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				o.Log.Warn("NATS disconnected; reconnecting", "error", err)
			}
		}),
		nats.ReconnectHandler(func(c *nats.Conn) { o.Log.Info("NATS reconnected", "url", c.ConnectedUrlRedacted()) }),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
			subject := ""
			if sub != nil {
				subject = sub.Subject
			}
			if _, ok := errors.AsType[returned](err); ok {
				return
			}
			say := o.Log.Warn
			if strings.Contains(err.Error(), `Subscription to "$SRV.`) && undiscovered.Swap(true) {
				say = o.Log.Debug // a service has nine such subjects, and one warning is enough
			}
			say("NATS client error", "subject", subject, "error", err)
		}),
	}
	if o.InProcess != nil {
		options = append(options, nats.InProcessServer(o.InProcess), nats.Timeout(inProcessTimeout))
	}
	if o.Inbox != "" {
		options = append(options, nats.CustomInboxPrefix(o.Inbox))
	}
	if o.Token != "" {
		options = append(options, nats.UserJWTAndSeed(o.Token, o.Seed))
	}
	if o.Creds != "" {
		options = append(options, credentialsFile(o.Creds))
	}
	return append(options, o.NATS...)
}

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
