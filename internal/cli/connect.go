package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/clientconn"
	"github.com/hookrouter/hookrouter/internal/natscreds"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

// Patience is how long to retry while no router answers.
const Patience = time.Second

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
