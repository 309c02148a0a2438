package natsx

import (
	"cmp"
	"errors"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natscontext"
	"github.com/hookrouter/hookrouter/internal/natscreds"
)

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

// identify finds credentials for the role if none were given, and sets the inbox that the
// credentials allow.
func (o *Options) identify() error {
	if o.InProcess != nil {
		return nil
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if anonymous, embedded := o.anonymous(); anonymous {
		if o.CredsFromEnv && !embedded {
			o.Creds = o.Getenv("NATS_CREDS")
		}
		if o.Creds == "" && o.Role != "" {
			found, _, err := natscontext.Find(o.Getenv, o.URL, o.Role)
			if err != nil {
				return err
			}
			o.Creds = found.Creds
		}
	}
	if o.Creds != "" {
		claims := natscreds.ClaimsOf(o.Creds)
		o.Inbox, o.server = cmp.Or(o.Inbox, claims.Inbox()), claims.Router()
	}
	return nil
}

// anonymous reports whether the options contain no credentials, and whether the server is embedded.
func (o *Options) anonymous() (yes, embedded bool) {
	if o.Creds != "" || strings.Contains(o.URL, "@") {
		return false, false
	}
	var set nats.Options
	for _, option := range o.NATS {
		if option(&set) != nil {
			return false, false // connecting reports it
		}
	}
	yes = set.User == "" && set.Token == "" && set.Nkey == "" && set.UserJWT == nil && set.TLSConfig == nil
	return yes, set.InProcessServer != nil
}

// Time-outs of one attempt to connect. The client library's default of 2 s is too short on a loaded
// machine. A server in this process is always there: only load delays it.
const (
	connectTimeout   = 5 * time.Second
	inProcessTimeout = 30 * time.Second
)

// clientOptions returns the options of the client library.
func (o *Options) clientOptions() []nats.Option {
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
		nats.SetCustomDialer(oneLine{dial: (&net.Dialer{Timeout: connectTimeout}).Dial}),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				o.Log.Warn("NATS disconnected; reconnecting", "error", err)
			}
		}),
		nats.ReconnectHandler(func(c *nats.Conn) { o.Log.Info("NATS reconnected", "url", c.ConnectedUrlRedacted()) }),
		nats.ErrorHandler(o.logErrors()),
	}
	if o.InProcess != nil {
		options = append(options, nats.InProcessServer(oneLine{in: o.InProcess}), nats.Timeout(inProcessTimeout))
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

// logErrors returns a handler that logs the errors of a connection.
func (o *Options) logErrors() nats.ErrHandler {
	var undiscovered atomic.Bool
	return func(_ *nats.Conn, sub *nats.Subscription, err error) {
		if _, ok := errors.AsType[returned](err); ok {
			return
		}
		subject := ""
		if sub != nil {
			subject = sub.Subject
		}
		say := o.Log.Warn
		if strings.Contains(err.Error(), `Subscription to "$SRV.`) && undiscovered.Swap(true) {
			say = o.Log.Debug // a service has nine such subjects, and one warning is enough
		}
		say("NATS client error", "subject", subject, "error", err)
	}
}
