package agenthook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/clientconn"
	"github.com/hookrouter/hookrouter/internal/natscontext"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

const (
	defaultPatience = 2 * time.Second
	retryPause      = 50 * time.Millisecond
)

// client returns the connection options. Empty options default to those of the client.
func (o Options) client() (hookrouter.Options, error) {
	c := hookrouter.Options{URL: o.Server, Creds: o.Creds, Prefix: o.Prefix, Name: "hook-agent", Patience: o.patience()}
	if c.Creds != "" || o.Home == "" || strings.Contains(o.Server, "@") {
		return c, nil
	}
	found, _, err := natscontext.FindBelow(o.Home, os.Getenv, cmp.Or(o.Server, natsx.DefaultURL), string(hookrouter.RoleAgent))
	c.Creds = found.Creds
	return c, err
}

func (o Options) patience() time.Duration {
	if o.Patience > 0 {
		return o.Patience
	}
	return defaultPatience
}

// Router is a router in the same process that decides the events of an agent.
type Router interface {
	// Emit runs the hooks of an event.
	Emit(ctx context.Context, e Sent) (chain.Result, error)
	// Execute runs the hooks and applies their decision. If a hook asks a person, it waits for the
	// answer; the verdict is pending if ctx ends first.
	Execute(ctx context.Context, e Sent) (verdict.Verdict, error)
}

// Sent is an event that an agent sent its hook.
type Sent struct {
	Source       string // the agent
	Name         string
	Parent, Root string // sessions above the event's session; empty if unknown
	Data         []byte
}

// source returns the source of the dialect's events.
func (d Dialect) source() string { return "/" + d.Name }

// ask asks the router about an event. If a hook asks a person, it waits for the answer.
func (h *Hook) ask(ctx context.Context, in input) (verdict.Verdict, error) {
	if h.Router != nil {
		return h.askHere(ctx, in)
	}
	client, err := h.connect(ctx)
	if err != nil {
		return verdict.Verdict{}, err
	}
	defer client.Conn().Close() // no drain needed: every request was answered
	return h.askOver(ctx, client, in, h.waiting)
}

// askOver asks the router on a connection, as ask does. waiting is called when a person is asked.
func (h *Hook) askOver(ctx context.Context, client *hookrouter.Client, in input, waiting func(verdict.Approval)) (verdict.Verdict, error) {
	parent, root := h.above(in)
	a, err := agent.New(client, agent.Options{Source: h.Dialect.source(), Parent: parent, Root: root, OnPending: waiting})
	if err != nil {
		return verdict.Verdict{}, err
	}
	v, err := h.send(ctx, a, in, client.Conn().MaxPayload())
	if hookrouter.CodeOf(err) == hookrouter.CodeTooLarge && !in.event.Gated() {
		h.unseen(in, err, func(data any) error {
			_, err := a.Emit(ctx, UncheckedEvent, data)
			return err
		})
	}
	return v, err
}

// send sends an event of at most most bytes, and reports earlier events that passed without a
// verdict.
func (h *Hook) send(ctx context.Context, a *agent.Agent, in input, most int64) (verdict.Verdict, error) {
	if size := int64(len(in.data)); size > most {
		return verdict.Verdict{}, &hookrouter.Error{Code: hookrouter.CodeTooLarge, Text: fmt.Sprintf("the event has %d bytes, and the NATS server takes %d", size, most)}
	}
	again := clientconn.WithEventID(ctx, h.Options.EventID)
	if in.known && !in.event.Obeys() {
		answer, err := a.Emit(again, in.event.Name, in.data)
		h.report(ctx, a, err)
		return announced(answer.Result), err
	}
	x, err := a.Execute(again, in.event.Name, in.data)
	h.report(ctx, a, err)
	return x.Verdict, err
}

// askHere asks the router of this process.
func (h *Hook) askHere(ctx context.Context, in input) (verdict.Verdict, error) {
	e := Sent{Source: h.Dialect.source(), Name: in.event.Name, Data: in.data}
	e.Parent, e.Root = h.above(in)
	if !in.event.Obeys() {
		r, err := h.Router.Emit(ctx, e)
		return announced(r), err
	}
	v, err := h.Router.Execute(ctx, e)
	if err == nil && v.Action == verdict.Pending && v.Approval != nil {
		err = &agent.PendingError{Approval: *v.Approval, Err: context.DeadlineExceeded}
	}
	return v, err
}

// announced returns the result of an event at which a verdict has no effect, as a verdict. No
// person is asked at such an event. obey notes what is lost.
func announced(r chain.Result) verdict.Verdict {
	v := verdict.Verdict{Action: verdict.Continue, Data: r.Data}
	switch r.Action {
	case chain.Deny:
		v.Action, v.Reason = verdict.Deny, r.Reason
	case chain.AskUser:
		v.Action, v.Reason = verdict.Deny, "a hook wants to ask: "+r.ApprovalPrompt
	case chain.InjectContext:
		v.Messages = []verdict.Message{{Content: r.ContextInjection}}
	}
	if r.UserMessage != "" {
		v.Display = []verdict.Display{{Message: r.UserMessage, Level: r.UserMessageLevel, Source: "hook", UserMessageSource: r.UserMessageSource}}
	}
	return v
}

// connect connects to the router, and retries until the patience is over, since a router with an
// embedded NATS server is unreachable while it restarts.
func (h *Hook) connect(ctx context.Context) (*hookrouter.Client, error) {
	options, err := h.Options.client()
	if err != nil {
		return nil, err
	}
	end := time.Now().Add(h.Options.patience())
	for {
		client, err := hookrouter.Connect(ctx, options)
		if !errors.Is(err, hookrouter.ErrUnreachable) || ctx.Err() != nil || time.Now().After(end) {
			return client, err
		}
		select {
		case <-time.After(retryPause):
		case <-ctx.Done():
		}
	}
}

// waiting notes that the agent waits for a person.
func (h *Hook) waiting(r verdict.Approval) {
	h.note(own(chain.LevelInfo, "waiting for a person: %s (answer with: hookctl approvals answer %s OPTION)", r.Prompt, r.ID))
}

// failed returns the answer when the router gave no verdict.
func (h *Hook) failed(in input, err error) answer {
	cause := h.Options.explain(err)
	var pending *agent.PendingError
	if !in.known && errors.As(err, &pending) { // a hook asked, and nobody allowed it
		return answer{deny: true, reason: blocked(cause)}
	}
	if !h.Options.Allow || !in.event.Gated() || !unreachable(err) {
		return withoutVerdict(in.event, cause)
	}
	told := own(chain.LevelWarning, "let pass without a verdict, as --on-unreachable=allow says: %v", cause)
	if err := h.remember(in, cause); err != nil {
		told.Message += fmt.Sprintf("; it can't be reported later: %v", err)
	}
	h.note(told)
	return answer{message: shown(told)}
}

// unreachable reports whether err says that no router could be asked. An error from a router, or an
// unanswered approval request, does not say so.
func unreachable(err error) bool {
	var pending *agent.PendingError
	if errors.As(err, &pending) || hookrouter.CodeOf(err) != 0 {
		return false
	}
	return slices.ContainsFunc([]error{
		hookrouter.ErrUnreachable, hookrouter.ErrNoRouter, hookrouter.ErrDisconnected, hookrouter.ErrConnectionLost, context.DeadlineExceeded,
	}, func(e error) bool { return errors.Is(err, e) })
}
