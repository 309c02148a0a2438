package approver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// Refusal is the error of a request that the router refused: Code is the wire
// protocol's, Text says what was wrong and what to do.
type Refusal = wire.Error

// ErrNoRouter means that nobody answers on the router's subjects.
var ErrNoRouter = errors.New("no router answers")

// ErrLost means that the connection was lost while a reply was waited for:
// whether an answer counts is not known.
var ErrLost = errors.New("the connection to NATS was lost while waiting for the reply: look at the question again")

// maxWait is how long a reply is waited for.
const maxWait = 10 * time.Second

// Options say how an approver connects. The zero Options connect to
// nats://127.0.0.1:4222.
type Options struct {
	// URL of the NATS servers, comma-separated; empty means nats://127.0.0.1:4222.
	URL string
	// Conn is a connection to use instead; it stays the caller's.
	Conn *nats.Conn
	// Prefix of the subjects; empty means "hooks".
	Prefix string
	// Creds is the path of a NATS credentials file; empty for none.
	Creds string
	// NATS holds further options of the connection.
	NATS []nats.Option
	// Patience is how long to ask again while no router can serve; 0 means 5 s,
	// negative means not at all.
	Patience time.Duration
	// Log gets lost and regained connections, and notices that can't be read; nil
	// discards them.
	Log *slog.Logger
}

// Approver answers questions.
type Approver struct {
	Options
	bus *natsx.Conn
}

// Connect connects an approver. Close it.
func Connect(_ context.Context, o Options) (*Approver, error) {
	if o.Patience == 0 {
		o.Patience = 5 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	a := &Approver{Options: o}
	var err error
	if o.Conn != nil {
		a.bus, err = natsx.New(o.Conn, o.Prefix, o.Log)
	} else {
		a.bus, err = natsx.Connect(natsx.Options{URL: o.URL, Prefix: o.Prefix, Name: "approver", Creds: o.Creds, NATS: o.NATS, Log: o.Log})
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

// Close disconnects, unless the connection is the caller's.
func (a *Approver) Close() {
	if a.Conn == nil {
		a.bus.Close()
	}
}

// ask sends a request with a JSON body, nil for none, and reads the reply into
// out.
func (a *Approver) ask(ctx context.Context, subject string, body, out any) (*natsx.Message, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	msg, err := a.request(ctx, subject, text)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(msg.Data, out); err != nil {
		return nil, fmt.Errorf("read the reply: %w", err)
	}
	return msg, nil
}

// request asks a router, and asks again while none can serve.
func (a *Approver) request(ctx context.Context, subject string, body []byte) (*natsx.Message, error) {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	header := wire.Header{}
	wire.InjectTrace(ctx, header)
	patience := time.Now().Add(a.Patience)
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		waiting, stop := a.bus.UntilLost(ctx, ErrLost)
		msg, err := a.bus.Request(waiting, subject, header, body)
		if err != nil && errors.Is(context.Cause(waiting), ErrLost) && !passing(err) {
			err = ErrLost
		}
		stop()
		if err == nil {
			return msg, nil
		}
		if !passing(err) || time.Now().Add(pause).After(patience) {
			return nil, explain(subject, err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, explain(subject, err)
		}
	}
}

// passing reports whether nothing can have been decided and a router may be
// there the next time.
func passing(err error) bool {
	return wire.CodeOf(err) == wire.Unavailable || errors.Is(err, natsx.ErrNoResponders) || errors.Is(err, natsx.ErrDisconnected)
}

func explain(subject string, err error) error {
	if errors.Is(err, natsx.ErrNoResponders) {
		return fmt.Errorf("%w on %s: start `hook-router`, or check the prefix", ErrNoRouter, subject)
	}
	return err
}
