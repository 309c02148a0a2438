package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/clientconn"
	"github.com/hookrouter/hookrouter/internal/natscontext"
	"github.com/hookrouter/hookrouter/internal/natscreds"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

// Patience is how long to retry while no router answers.
const Patience = time.Second

// Connection is the set of flags for the connection to NATS.
type Connection struct {
	Server      string `short:"s" from:"HOOK_ROUTER_NATS_URL,NATS_URL" placeholder:"URL" help:"NATS servers, comma-separated; default nats://127.0.0.1:4222."`
	Context     string `from:"NATS_CONTEXT" placeholder:"NAME" help:"Context of the nats command line; the selected one where neither this nor a server is given."`
	Creds       string `from:"NATS_CREDS" placeholder:"FILE" help:"Credentials file."`
	User        string `from:"NATS_USER" placeholder:"NAME" help:"User name."`
	Password    string `from:"NATS_PASSWORD" placeholder:"TEXT" help:"Password; the variable hides it from other users of the machine."`
	Token       string `from:"NATS_TOKEN" placeholder:"TEXT" help:"Token."`
	NKey        string `name:"nkey" from:"NATS_NKEY" placeholder:"FILE" help:"File with an nkey seed."`
	TLSCA       string `name:"tlsca" from:"NATS_CA" placeholder:"FILE" help:"Certificates to trust."`
	TLSCert     string `name:"tlscert" from:"NATS_CERT" placeholder:"FILE" help:"Client certificate."`
	TLSKey      string `name:"tlskey" from:"NATS_KEY" placeholder:"FILE" help:"Key of the client certificate."`
	InboxPrefix string `from:"NATS_INBOX_PREFIX" placeholder:"SUBJECT" help:"Prefix of reply subjects; begins with _INBOX."`
	Prefix      string `from:"HOOK_ROUTER_PREFIX" placeholder:"TOKEN" help:"First token of the router's subjects; default hooks."`

	userJWT, userSeed string // from a context only
	TLSFirst          bool   `kong:"-"`
}

// fromContext fills in what no flag and no variable sets from the named context, or from the
// selected one if no server is named either. So the credentials of a context never go to another
// server.
func (c *Connection) fromContext(getenv func(string) string) error {
	dir := natscontext.Dir(getenv)
	name := c.Context
	if name == "" {
		if c.Server != "" {
			return nil
		}
		if name = natscontext.Selected(dir); name == "" {
			return nil
		}
	}
	nc, err := natscontext.Load(dir, name, getenv("HOME"))
	if err != nil {
		return err
	}
	if c.Creds == "" && c.User == "" && c.Token == "" && c.NKey == "" { // use one identity, not a mixture
		c.User, c.Password, c.Token, c.userJWT, c.userSeed = nc.User, nc.Password, nc.Token, nc.UserJWT, nc.UserSeed
		c.Creds, c.NKey = nc.Creds, nc.NKey
	}
	if c.TLSCert == "" && c.TLSKey == "" {
		c.TLSCert, c.TLSKey = nc.Cert, nc.Key
	}
	for _, field := range [...]struct {
		to   *string
		from string
	}{{&c.Server, nc.URL}, {&c.TLSCA, nc.CA}, {&c.InboxPrefix, nc.InboxPrefix}} {
		if *field.to == "" {
			*field.to = field.from
		}
	}
	c.TLSFirst = nc.TLSFirst
	return nil
}

// Connect opens the command's connection, which [Env.Close] closes. Errors of the server end the
// command.
func (e *Env) Connect() (*natsx.Conn, error) {
	if e.bus != nil {
		return e.bus, nil
	}
	c := *e.Connection
	if _, err := events.NewSubjects(c.Prefix); err != nil {
		return nil, err
	}
	if err := c.fromContext(e.Getenv); err != nil {
		return nil, err
	}
	options, err := c.options()
	if err != nil {
		return nil, err
	}
	options = append(options,
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) { e.asyncError(sub, err) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // nil if hookctl closed the connection itself
				e.Tell("NATS disconnected; reconnecting: %v", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { e.Tell("NATS reconnected") }))
	b, err := natsx.Connect(natsx.Options{URL: c.Server, Prefix: c.Prefix, Name: "hookctl", Creds: c.Creds, Role: cmp.Or(e.Role, "admin"), Getenv: e.Getenv, NATS: options})
	if errors.Is(err, natsx.ErrURL) || errors.Is(err, natscreds.ErrFormat) {
		return nil, err // nothing was sent
	}
	if err != nil {
		return nil, Disconnected(err)
	}
	e.bus = b
	return b, nil
}

// As returns a copy of the environment that connects separately, as a role. Close both.
func (e *Env) As(role string) *Env {
	other := *e
	other.Role, other.bus = role, nil
	return &other
}

// Close closes the connection.
func (e *Env) Close() {
	if e.bus != nil {
		e.bus.Close()
	}
}

// Client connects and returns the client for workers, agents and approvers.
func (e *Env) Client(ctx context.Context) (*hookrouter.Client, error) {
	b, err := e.Connect()
	if err != nil {
		return nil, err
	}
	return hookrouter.Connect(ctx, hookrouter.Options{Conn: b.Conn(), Prefix: b.Prefix(), Patience: Patience})
}

// Agent connects as an agent.
func (e *Env) Agent(ctx context.Context, o agent.Options) (*agent.Agent, error) {
	client, err := e.Client(ctx)
	if err != nil {
		return nil, err
	}
	o.Source = "/hookctl"
	return agent.New(client, o)
}

// keeper is the role that may read the audit log.
const keeper = "keeper"

// advice returns what to do if the identity lacks the permissions of a role.
func (c *Connection) advice(role string) string {
	if c.Creds == "" {
		return "ask whoever runs it for that permission"
	}
	others := "others"
	if role == keeper {
		others = "a keeper's"
	}
	return fmt.Sprintf("the credentials in %s do not allow it: name %s with --creds or NATS_CREDS", c.Creds, others)
}

// asyncError handles errors that the server reports asynchronously.
func (e *Env) asyncError(sub *nats.Subscription, err error) {
	switch {
	case errors.Is(err, nats.ErrPermissionViolation):
		e.Cancel(Disconnected(fmt.Errorf("use NATS: %w: %s", err, cmp.Or(e.Forbidden, e.Connection.advice(e.Role)))))
	case errors.Is(err, nats.ErrSlowConsumer) && sub != nil:
		e.Tell("too slow: some messages on %s are lost", sub.Subject)
	default:
		e.Tell("NATS says: %v", err)
	}
}

// Tell prints a note outside the output, such as one about the connection.
func (e *Env) Tell(format string, args ...any) {
	text := term.Clean(fmt.Sprintf(format, args...))
	if e.Status != nil {
		e.Status(text)
		return
	}
	term.Say(e.Stderr, "hookctl: "+text)
}

// options returns the NATS options for the flags and the context.
func (c Connection) options() (list []nats.Option, err error) {
	for _, file := range [...]struct{ flag, path string }{
		{"--creds", c.Creds}, {"--nkey", c.NKey}, {"--tlsca", c.TLSCA}, {"--tlscert", c.TLSCert}, {"--tlskey", c.TLSKey},
	} {
		if file.path == "" {
			continue
		}
		if _, err := os.Stat(file.path); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read %s: there is no file %s", file.flag, file.path)
		}
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return nil, errors.New("use a client certificate: --tlscert and --tlskey belong together")
	}
	if c.User != "" {
		list = append(list, nats.UserInfo(c.User, c.Password))
	}
	if c.Token != "" {
		list = append(list, nats.Token(c.Token))
	}
	if c.userJWT != "" {
		list = append(list, nats.UserJWTAndSeed(c.userJWT, c.userSeed))
	}
	if c.NKey != "" {
		nkey, err := nats.NkeyOptionFromSeed(c.NKey)
		if err != nil {
			return nil, fmt.Errorf("read --nkey %s: %w", c.NKey, err)
		}
		list = append(list, nkey)
	}
	if c.TLSCA != "" {
		list = append(list, nats.RootCAs(c.TLSCA))
	}
	if c.TLSCert != "" {
		list = append(list, nats.ClientCert(c.TLSCert, c.TLSKey))
	}
	if c.TLSFirst {
		list = append(list, nats.TLSHandshakeFirst())
	}
	if inbox := cmp.Or(c.InboxPrefix, nats.InboxPrefix[:len(nats.InboxPrefix)-1]); inbox != "_INBOX" {
		if !strings.HasPrefix(inbox, "_INBOX") {
			return nil, fmt.Errorf("use inbox prefix %q: a router only answers to subjects that begin with _INBOX", inbox)
		}
		list = append(list, nats.CustomInboxPrefix(inbox))
	}
	return list, nil
}

// Approver connects as an approver.
func (e *Env) Approver(ctx context.Context) (*approver.Approver, error) {
	client, err := e.Client(ctx)
	if err != nil {
		return nil, err
	}
	return approver.New(client), nil
}

// AuditLog opens the audit log.
func (e *Env) AuditLog(ctx context.Context) (*query.Log, *natsx.Conn, error) {
	b, err := e.Connect()
	if err != nil {
		return nil, nil, err
	}
	l, err := query.Open(ctx, b)
	return l, b, err
}

// orderPatience is how long [Env.Order] retries while no router confirms the command.
const orderPatience = 30 * time.Second

// Order sends an operator's command. It retries, for up to orderPatience, until a router has
// carried it out. All commands are idempotent. tokens are the tokens of the subject.
func (e *Env) Order(ctx context.Context, body, out any, tokens ...string) error {
	client, err := e.Client(ctx)
	if err != nil {
		return err
	}
	conn := clientconn.Of(client)
	conn.Patience = orderPatience
	_, err = conn.RequestJSON(ctx, clientconn.Request{Subject: conn.Transport.Of(tokens...)}, body, out)
	return err
}

// WholeLog tells the user that the whole audit log is read now, which takes time. It returns true.
func (e *Env) WholeLog() bool {
	e.Tell("not in the index of the audit log; reading the whole log")
	return true
}
