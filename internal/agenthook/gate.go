package agenthook

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// connectWithin limits the time of one connection attempt of a Gate, including retries.
const connectWithin = 10 * time.Second

// Gate asks the router about the tool calls that a program relays. Unlike a [Hook], it keeps its
// connection. It is safe for concurrent use if its notes are.
type Gate struct {
	hook       Hook
	connecting singleflight.Group
	client     atomic.Pointer[hookrouter.Client]
}

// Decision says what a program that relays tool calls must do. The zero Decision lets the
// call, or its result, pass unchanged.
type Decision struct {
	Deny    bool
	Reason  string          // for the model
	Changed json.RawMessage // the new input or result; nil for no change
	Context string          // for the model, in addition to the result
}

// The events of a Gate.
var (
	beforeCall = Event{Native: "tools/call", Name: events.ToolPre, Deny: Stops, Modify: "tool_input", AnyType: true, Inject: true}
	afterCall  = Event{Native: "the result of tools/call", Name: events.ToolPost, Deny: Hides, Modify: "tool_result", AnyType: true, Inject: true}
)

// NewGate returns a gate for the program with a name. The gate connects when it first asks the
// router, or earlier with [Gate.Connect].
func NewGate(name string, o Options, notes io.Writer) *Gate {
	return &Gate{hook: Hook{Dialect: Dialect{Name: name, Agent: name}, Options: o, Notes: notes}}
}

// Connect connects to the router unless the gate is connected. After an error, the gate tries again
// when it next asks.
func (g *Gate) Connect(ctx context.Context) error {
	_, err := g.connect(ctx)
	return err
}

// Before asks about a call before it runs; data is the data of tool:pre. waiting is called when a
// person is asked, and must return soon; it may be nil.
func (g *Gate) Before(ctx context.Context, data []byte, waiting func(verdict.Approval)) Decision {
	return g.ask(ctx, beforeCall, data, waiting)
}

// After asks about the result of a call; data is the data of tool:post.
func (g *Gate) After(ctx context.Context, data []byte, waiting func(verdict.Approval)) Decision {
	return g.ask(ctx, afterCall, data, waiting)
}

func (g *Gate) ask(ctx context.Context, e Event, data []byte, waiting func(verdict.Approval)) Decision {
	if g.hook.Options.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, g.hook.Options.Timeout)
		defer cancel()
	}
	in := input{event: e, known: true, data: data}
	v, err := g.verdict(ctx, &in, waiting)
	var a answer
	if err != nil {
		a = g.hook.failed(in, err)
	} else {
		a = g.hook.obey(in, v)
		if a.message != "" {
			fmt.Fprintln(g.hook.Notes, a.message)
		}
	}
	return Decision{Deny: a.deny, Reason: a.reason, Changed: a.changed, Context: a.context}
}

func (g *Gate) verdict(ctx context.Context, in *input, waiting func(verdict.Approval)) (v verdict.Verdict, err error) {
	if in.members, err = events.ParseObject(in.data); err != nil {
		return v, err
	}
	client, err := g.connect(ctx)
	if err != nil {
		return v, err
	}
	return g.hook.askOver(ctx, client, *in, func(r verdict.Approval) {
		g.hook.waiting(r)
		if waiting != nil {
			waiting(r)
		}
	})
}

// EndSession deletes the state that the router keeps of a session, and closes the connection.
func (g *Gate) EndSession(ctx context.Context, session string) {
	client := g.client.Load()
	if client == nil {
		return
	}
	if a, err := agent.New(client, agent.Options{Session: session, Source: "/" + g.hook.Dialect.Name}); err == nil {
		_ = a.EndSession(ctx) // the state expires anyway
	}
	client.Conn().Close()
}

func (g *Gate) connect(ctx context.Context) (*hookrouter.Client, error) {
	if client := g.client.Load(); client != nil && !client.Conn().IsClosed() {
		return client, nil
	}
	done := g.connecting.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), connectWithin) // other callers share this attempt
		defer cancel()
		client, err := g.hook.connect(ctx)
		if err == nil {
			g.client.Store(client)
		}
		return client, err
	})
	select {
	case r := <-done:
		client, _ := r.Val.(*hookrouter.Client)
		return client, r.Err
	case <-ctx.Done():
		return nil, fmt.Errorf("connect: %w", ctx.Err())
	}
}
