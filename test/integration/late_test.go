package integration

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// What a hook in mode async injects after its event's answer is in the next turn, whichever
// replica serves it, and again for the same event, whose answer may have been lost.
func TestALateInjectionReachesTheNextTurnOnAnotherReplica(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	_, stop := routertest.Start(t, s, router.Options{})
	w := natstest.Worker(t, natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}), worker.Options{})
	called, answer := make(chan struct{}), make(chan struct{})
	_, err := w.Register(t.Context(), worker.Registration{ID: "lint", Events: []string{"tool:post"}, Mode: chain.Async}, func(context.Context, worker.Event) (worker.Result, error) {
		close(called)
		<-answer
		return worker.Inject("2 warnings")
	})
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.New(natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}), agent.Options{Session: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	ctx := testkit.Within(t, testkit.Patience)
	if x, err := a.Execute(ctx, "tool:post", json.RawMessage(`{}`)); err != nil || len(x.Messages) > 0 {
		t.Fatalf("the answer waited for the hook: %+v, %v", x, err)
	}
	testkit.Closed(t, "the call", called)
	_, _ = routertest.Start(t, s, router.Options{})
	close(answer)
	stop() // which waits for what is under way
	nc := natstest.Conn(t, s)
	prompt := func(id string) string {
		t.Helper()
		reply, err := nc.RequestMsgWithContext(ctx, &nats.Msg{Subject: "hooks.execute.prompt.submit", Data: []byte(`{}`), Header: nats.Header{
			"ce-specversion": {"1.0"}, "ce-id": {id}, "ce-source": {"/coder"}, "ce-type": {"prompt:submit"}, "ce-subject": {"s1"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		var v struct {
			Messages []struct {
				Content string `json:"content"`
			} `json:"messages"`
		}
		if err := json.Unmarshal(reply.Data, &v); err != nil {
			t.Fatalf("%v: %s", err, reply.Data)
		}
		text := ""
		for _, m := range v.Messages {
			text += m.Content
		}
		return text
	}
	for _, step := range []struct{ id, want string }{{"e1", "2 warnings"}, {"e1", "2 warnings"}, {"e2", ""}, {"e1", ""}} {
		if got := prompt(step.id); got != step.want {
			t.Errorf("%s was given %q", step.id, got)
		}
	}
}
