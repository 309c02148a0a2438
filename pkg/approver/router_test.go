package approver_test

import (
	"context"
	"testing"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/verdict"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// execution is an agent's call that a hook asks about.
type execution struct {
	agent.Execution
	err error
}

// executing starts an execution that a hook asks about.
func executing(t *testing.T, a *agent.Agent) <-chan execution {
	t.Helper()
	done := make(chan execution, 1)
	go func() {
		x, err := a.Execute(context.Background(), events.ToolPre, map[string]any{"tool_name": "Deploy"})
		done <- execution{x, err}
	}()
	return done
}

func TestWithARouter(t *testing.T) {
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	w := natstest.Worker(t, natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}), worker.Options{})
	ask := func(context.Context, worker.Event) (worker.Result, error) {
		return chain.Question("Deploy?", "Allow once", "Allow always", "Deny"), nil
	}
	if _, err := w.Register(t.Context(), worker.Registration{ID: "guard", Events: []string{events.ToolPre}}, ask); err != nil {
		t.Fatal(err)
	}
	pending := make(chan string, 10)
	asking, err := agent.New(natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}), agent.Options{Session: "s1", OnPending: func(q verdict.Approval) { pending <- q.ID }})
	if err != nil {
		t.Fatal(err)
	}
	a := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)})
	seen := watch(t, a)

	done := executing(t, asking)
	id := <-pending
	seen.want(id + " asked")
	list, total, err := a.Pending(t.Context(), approval.Filter{Session: "s1"})
	if err != nil || total != 1 || len(list) != 1 || list[0].ID != id || list[0].Hook != "guard" {
		t.Errorf("pending %+v, %d, %v", list, total, err)
	}
	r, err := a.Get(t.Context(), id)
	if err != nil || r.ToolName != "Deploy" || r.DataSHA256 != approval.Digest(r.Data) {
		t.Errorf("record %+v, %v", r, err)
	}
	for _, step := range []struct {
		sentence string
		answer   approval.Answer
		option   string
		code     int
	}{
		{"not offered", approval.Answer{Option: "Maybe"}, "", wire.Malformed},
		{"other data", approval.Answer{Option: "Deny", DataSHA256: approval.Digest(nil)}, "", wire.Conflict},
		{"offered", approval.Answer{Option: "ALLOW always", DataSHA256: r.DataSHA256}, "Allow always", 0},
		{"too late", approval.Answer{Option: "Deny"}, "", wire.Conflict},
	} {
		if option, err := a.Answer(t.Context(), id, step.answer); option != step.option || wire.CodeOf(err) != step.code {
			t.Errorf("%s: %q, %v; want %q, %d", step.sentence, option, err, step.option, step.code)
		}
	}
	seen.want(id + ` "Allow always" by unauthenticated`)
	if x := <-done; x.err != nil || !x.Permitted() {
		t.Errorf("the agent got %+v", x)
	}
	if _, err := a.Get(t.Context(), "nobody"); wire.CodeOf(err) != wire.NotFound {
		t.Errorf("%v; want 404", err)
	}

	info, err := a.Session(t.Context(), "s1")
	if err != nil || len(info.Grants) != 1 || info.Grants[0].Hook != "guard" || info.Grants[0].ApprovalID != id || info.Budget == 0 {
		t.Errorf("session %+v, %v", info, err)
	}
	for _, want := range []int{1, 0} {
		if n, err := a.Revoke(t.Context(), "s1", "guard", "Deploy?"); n != want || err != nil {
			t.Errorf("revoked %d, %v; want %d", n, err, want)
		}
	}
	done = executing(t, asking)
	id = <-pending // asked again
	seen.want(id + " asked")
	if _, err := a.Answer(t.Context(), id, approval.Answer{Error: "the chat is down"}); err != nil {
		t.Error(err)
	}
	seen.want(id + ` "" by unauthenticated`)
	if x := <-done; x.err != nil || x.Permitted() {
		t.Errorf("the agent got %+v; want the default", x)
	}
}
