package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/hooktest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func TestMiddlewareSeesEveryCallThatRunsHooks(t *testing.T) {
	t.Parallel()
	b := hooktest.Start(t)
	var trace []string
	tracing := func(name string) agent.Middleware {
		return func(next agent.Invoker) agent.Invoker {
			return func(ctx context.Context, c agent.Call) (agent.Reply, error) {
				trace = append(trace, fmt.Sprint(name, " ", c.Verb, " ", c.Name))
				return next(ctx, c)
			}
		}
	}
	a, err := agent.New(b.Client(t), agent.Options{Session: "s1", Middleware: []agent.Middleware{tracing("a"), tracing("b")}})
	if err != nil {
		t.Fatal(err)
	}
	session := newSession(t, a, agent.SessionOptions{ID: "s2"})
	for _, err := range []error{
		second(a.Emit(t.Context(), "x", nil)),
		second(session.Execute(t.Context(), "x", nil)),
		second(a.EmitAndCollect(t.Context(), "x", nil, time.Second)),
		second(a.CollectContributions(t.Context(), "c", time.Second)),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	want := []string{"a emit x", "b emit x", "a execute x", "b execute x", "a collect x", "b collect x", "a contributions c", "b contributions c"}
	if !slices.Equal(trace, want) {
		t.Errorf("ran %q, want %q", trace, want)
	}
}

func second[T any](_ T, err error) error { return err }

func TestAMiddlewareMayReplyAndFail(t *testing.T) {
	t.Parallel()
	b := hooktest.Start(t)
	hook := hooktest.Script()
	b.Register(t, worker.Registration{ID: "hook", Events: toolPre}, hook.Handle)
	broken := errors.New("not today")
	for sentence, c := range map[string]struct {
		reply agent.Reply
		err   error
		fails bool
	}{
		"with an answer of its own":  {agent.Reply{Answer: &agent.Answer{}}, nil, false},
		"with an error":              {agent.Reply{}, broken, true},
		"with nothing":               {agent.Reply{}, nil, true},
		"with another verb's answer": {agent.Reply{Execution: &agent.Execution{}}, nil, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			instead := func(agent.Invoker) agent.Invoker {
				return func(context.Context, agent.Call) (agent.Reply, error) { return c.reply, c.err }
			}
			a, err := agent.New(b.Client(t), agent.Options{Middleware: []agent.Middleware{instead}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := a.Emit(t.Context(), events.ToolPre, nil); (err != nil) != c.fails || c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("error is %v", err)
			}
		})
	}
	if n := len(hook.Calls()); n != 0 {
		t.Errorf("the hook was called %d times", n)
	}
}

// An error reply is the same error, whoever asked.
func TestRefusalsAreTheSameErrorForAllClients(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	for _, subject := range []string{"hooks.emit.>", "hooks.approval.>", "hooks.register.>", "hooks.execute.>"} {
		script(t, natstest.Conn(t, s), subject, refuse(409, "not that way"))
	}
	client := natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)})
	a, err := agent.New(client, agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := worker.New(client, worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close(t.Context()) }()
	for who, err := range map[string]error{
		"emit":     second(a.Emit(t.Context(), "x", nil)),
		"execute":  second(a.Execute(t.Context(), "x", nil)),
		"worker":   second(w.Register(t.Context(), worker.Registration{ID: "h", Events: toolPre}, hooktest.Script().Handle)),
		"approver": second(approver.New(client).Get(t.Context(), "q1")),
	} {
		var reply *hookrouter.Error
		if !errors.As(err, &reply) || reply.Code != hookrouter.CodeConflict || reply.Text != "not that way" || hookrouter.CodeOf(err) != 409 {
			t.Errorf("%s: error is %v", who, err)
		}
	}
	if hookrouter.CodeOf(errors.New("another")) != 0 {
		t.Error("an error without a code has one")
	}
}
