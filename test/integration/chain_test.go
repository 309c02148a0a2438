package integration

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/natstest"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func TestSmoke(t *testing.T) {
	s := natstest.Server(t)
	natstest.Router(t, s, router.Options{})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	w, err := worker.Connect(ctx, worker.Options{Conn: natstest.Conn(t, s)})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close(ctx)
	start := time.Now()
	_, err = w.Register(ctx, worker.Registration{ID: "guard", Events: []string{events.ToolPre}, OnFailure: chain.FailClosed, Match: "data.n > 1"},
		func(_ context.Context, ev worker.Event) (worker.Result, error) { return worker.Deny("no: %s", ev.Session) })
	if err != nil {
		t.Fatal(err)
	}
	t.Log("registered in", time.Since(start))
	a, err := agent.Connect(ctx, agent.Options{Conn: natstest.Conn(t, s), Session: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	ans, err := a.Emit(ctx, events.ToolPre, json.RawMessage(`{"n":2}`))
	t.Logf("%+v %v", ans, err)
	ans, err = a.Emit(ctx, events.ToolPre, json.RawMessage(`{"n":1}`))
	t.Logf("%+v %s %v", ans, ans.Data, err)
	h, err := a.ListHandlers(ctx, "tool:pre")
	t.Log(h, err)
	h, err = a.ListHandlers(ctx, "tool:*")
	t.Log(h, err)
	l, err := a.Registry(ctx)
	t.Logf("%+v %v", l, err)
	e, err := a.Explain(ctx, "tool:pre", nil)
	t.Logf("%+v %v", e, err)
}
