package hookrouter

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/clientconn"
	"github.com/hookrouter/hookrouter/internal/natsx"
)

// DefaultPatience is the default of [Options.Patience].
const DefaultPatience = 5 * time.Second

// Options configure a connection. The zero value connects to nats://127.0.0.1:4222.
type Options struct {
	// URL of the NATS servers, comma-separated; empty means nats://127.0.0.1:4222.
	URL string
	// Conn is an existing connection to use instead of URL, Name, Creds and NATS. The caller owns
	// it: [Client.Close] does not close it.
	Conn *nats.Conn
	// Prefix of the subjects; empty means "hooks".
	Prefix string
	// Name of the program, shown by the NATS server; empty means "hookrouter".
	Name string
	// Creds is the path of a NATS credentials file. If it is empty, and neither URL nor NATS holds
	// credentials, the client takes the file that NATS_CREDS names, or else the credentials of Role
	// that a router with an embedded server stores for its user, as contexts of the nats command line.
	Creds string
	// Role selects credentials if Creds is empty; empty means [RoleAgent].
	Role Role
	// NATS holds further options for the connection.
	NATS []nats.Option
	// Patience is how long to retry a request while no router can serve it; 0 means
	// [DefaultPatience], negative means no retries.
	Patience time.Duration
	// Log gets connection losses and reconnects, and problems that the packages on top of the
	// client can't return as errors; nil discards them.
	Log *slog.Logger
}

// Role is what a program may do.
type Role string

// The roles.
const (
	RoleAgent  Role = "agent"  // send events and obey the verdicts
	RoleWorker Role = "worker" // serve hooks
	RoleAdmin  Role = "admin"  // answer approval requests and read everything
)

// Client is a connection to the routers of one prefix. Make it with [Connect]. It is safe for
// concurrent use.
type Client struct {
	conn  *clientconn.Conn
	owned bool // Close closes the connection
}

// Connect connects to NATS. It fails if no server can be reached or ctx ends first; ctx has no
// effect after Connect has returned. Close everything that uses the client before the client.
func Connect(ctx context.Context, o Options) (*Client, error) {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Patience = cmp.Or(o.Patience, DefaultPatience)
	transport, err := connect(ctx, o)
	if err != nil {
		return nil, err
	}
	conn := &clientconn.Conn{Transport: transport, Name: o.Name, Patience: o.Patience, Log: o.Log, NewError: newError}
	return &Client{conn: conn, owned: o.Conn == nil}, nil
}

func connect(ctx context.Context, o Options) (*natsx.Conn, error) {
	if o.Conn != nil {
		return natsx.New(o.Conn, o.Prefix, o.Log)
	}
	name := cmp.Or(o.Name, "hookrouter")
	return natsx.ConnectContext(ctx, natsx.Options{URL: o.URL, Prefix: o.Prefix, Name: name, Creds: o.Creds, CredsFromEnv: true, Role: string(cmp.Or(o.Role, RoleAgent)), NATS: o.NATS, Log: o.Log})
}

// Close disconnects, unless the caller owns the connection. Calling it again does nothing.
func (c *Client) Close() {
	if c.owned {
		c.conn.Transport.Close()
	}
}

// Conn returns the NATS connection, for the program's own requests.
func (c *Client) Conn() *nats.Conn { return c.conn.Transport.Conn() }

// Prefix returns the first token of the routers' subjects.
func (c *Client) Prefix() string { return c.conn.Transport.Prefix() }

func init() {
	clientconn.Of = func(client any) *clientconn.Conn { return client.(*Client).conn }
}
