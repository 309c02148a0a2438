package natsx

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Options say how to connect. The zero Options connect to the default URL.
type Options struct {
	// URL of the servers, comma-separated; empty means nats://127.0.0.1:4222.
	URL string
	// Prefix of every subject; empty means "hooks".
	Prefix string
	// Name of the connection, for the server's monitoring.
	Name string
	// InProcess is an embedded server to talk to without a socket; it wins over URL.
	InProcess InProcess
	// Inbox is where replies come to; it begins with _INBOX, and is that where empty.
	// Who shares one can read what the other is answered.
	Inbox string
	// Creds is the path of a NATS credentials file; empty for none.
	Creds string
	// NATS holds further options: user, token, TLS, inbox prefix.
	NATS []nats.Option
	// Log gets disconnects and errors of the connection; nil discards them.
	Log *slog.Logger
}

// InProcess is a server in this process that connects without a socket.
type InProcess = nats.InProcessConnProvider

// Bus is a connection and the subjects of one prefix.
type Conn struct {
	events.Subjects
	conn *nats.Conn
	js   jetstream.JetStream
	log  *slog.Logger
}

// Connect opens a connection that reconnects for ever. While it is away, sending
// fails at once instead of being kept for later. Close it.
func Connect(o Options) (*Conn, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.URL == "" {
		o.URL = nats.DefaultURL
	}
	options := []nats.Option{
		nats.Name(o.Name),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(250 * time.Millisecond),
		nats.ReconnectJitter(100*time.Millisecond, 250*time.Millisecond),
		nats.ReconnectBufSize(-1),
		nats.PingInterval(5 * time.Second),
		nats.MaxPingsOutstanding(2),
		nats.DrainTimeout(30 * time.Second),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				o.Log.Warn("NATS connection lost, reconnecting", "error", err)
			}
		}),
		nats.ReconnectHandler(func(c *nats.Conn) { o.Log.Info("NATS connection is back", "url", c.ConnectedUrlRedacted()) }),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
			subject := ""
			if sub != nil {
				subject = sub.Subject
			}
			o.Log.Warn("NATS reports an error", "subject", subject, "error", err)
		}),
	}
	if o.InProcess != nil {
		options = append(options, nats.InProcessServer(o.InProcess))
	}
	if o.Inbox != "" {
		options = append(options, nats.CustomInboxPrefix(o.Inbox))
	}
	if o.Creds != "" {
		options = append(options, nats.UserCredentials(o.Creds))
	}
	conn, err := nats.Connect(o.URL, append(options, o.NATS...)...)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS at %s: %w", RedactURL(o.URL), hint(err))
	}
	b, err := New(conn, o.Prefix, o.Log)
	if err != nil {
		conn.Close()
	}
	return b, err
}

// New makes a bus of a connection that the caller owns. log may be nil.
func New(conn *nats.Conn, prefix string, log *slog.Logger) (*Conn, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	subjects, err := events.NewSubjects(prefix)
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, fmt.Errorf("use JetStream: %w", err)
	}
	return &Conn{subjects, conn, js, log}, nil
}

// Conn is the connection below.
func (b *Conn) Conn() *nats.Conn { return b.conn }

// Connected reports whether the connection is up at this moment.
func (b *Conn) Connected() bool { return b.conn.IsConnected() }

// OnReconnect calls do whenever the connection is back, until the returned
// function is called, which waits for it.
func (b *Conn) OnReconnect(do func()) (stop func()) {
	back := b.conn.StatusChanged(nats.CONNECTED)
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case _, open := <-back:
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
		b.conn.RemoveStatusListener(back)
	}
}

// MaxPayload is the largest message the server takes, headers included, in bytes.
func (b *Conn) MaxPayload() int64 { return b.conn.MaxPayload() }

// Close closes the connection at once; what is not flushed is flushed first.
func (b *Conn) Close() {
	if b.conn.IsConnected() {
		_ = b.conn.FlushTimeout(time.Second)
	}
	b.conn.Close()
}

// hint adds to an error of connecting what a person can do about it.
func hint(err error) error {
	switch {
	case errors.Is(err, nats.ErrNoServers):
		return fmt.Errorf("%w: is a server running there? `hook-router` starts one", err)
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired):
		return fmt.Errorf("%w: check the credentials", err)
	}
	return err
}

// RedactURL hides the credentials that stand in server URLs.
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
