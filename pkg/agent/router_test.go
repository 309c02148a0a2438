package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/hooktest"
	"github.com/hookrouter/hookrouter/pkg/verdict"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// register registers a hook on a server without a hooktest bus.
func register(t *testing.T, c hookrouter.Options, o worker.Options, reg worker.Registration, hook worker.Handler) {
	t.Helper()
	w, err := worker.New(natstest.Client(t, c), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = w.Close(ctx)
	})
	if _, err := w.Register(t.Context(), reg, hook); err != nil {
		t.Fatal(err)
	}
}

var asking = chain.Result{Action: chain.AskUser, ApprovalPrompt: "Deploy?", ApprovalOptions: []string{"Allow", "Deny"}}

// What a person says to an approval request is what the agent gets, with the data that the
// person was asked about; the hooks run once.
func TestExecuteGetsWhatAPersonSays(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		say  string
		want verdict.Action
	}{
		"allowed": {"Allow", verdict.Continue},
		"denied":  {"Deny", verdict.Deny},
	} {
		t.Run(sentence, func(t *testing.T) {
			b := hooktest.Start(t)
			edit := func(_ context.Context, ev worker.Event) (worker.Result, error) {
				data, err := events.ParseObject(ev.Data)
				if err != nil {
					return worker.Result{}, err
				}
				return worker.Modify(json.RawMessage(data.With("n", []byte("9007199254740993"))))
			}
			b.Register(t, worker.Registration{ID: "edit", Events: toolPre}, edit)
			careful := hooktest.Script(asking)
			b.Register(t, worker.Registration{ID: "careful", Events: toolPre, Priority: 1}, careful.Handle)
			nc := b.Conn(t)
			a := connect(t, hookrouter.Options{Conn: b.Conn(t)}, agent.Options{Session: "s1", OnPending: func(q verdict.Approval) {
				if _, err := nc.Request("hooks.approve."+q.ID, []byte(`{"option":"`+c.say+`"}`), patience); err != nil {
					t.Error(err)
				}
			}})
			x, err := a.Execute(t.Context(), events.ToolPre, map[string]int{"n": 1})
			if err != nil || x.Action != c.want || x.Approval == nil || x.Approval.Option != c.say || x.EventID == "" {
				t.Fatalf("%+v, %v", x, err)
			}
			if c.want == verdict.Continue && !strings.Contains(string(x.Data), `"n":9007199254740993`) {
				t.Errorf("goes on with %s", x.Data)
			}
			if n := len(careful.Calls()); n != 1 {
				t.Errorf("the hook was called %d times", n)
			}
		})
	}
}

// The router that asked is gone when the person answers; another one tells the
// agent.
func TestExecuteOutlivesTheRouterThatAsked(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	_, stopFirst := routertest.Start(t, s, router.Options{})
	careful := hooktest.Script(asking)
	register(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, worker.Options{}, worker.Registration{ID: "careful", Events: toolPre}, careful.Handle)
	questions := make(chan string, 1)
	a := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, agent.Options{Session: "s1", OnPending: func(q verdict.Approval) { questions <- q.ID }})
	done := make(chan error, 1)
	go func() {
		x, err := a.Execute(t.Context(), events.ToolPre, nil)
		if err == nil && !x.Permitted() {
			err = fmt.Errorf("verdict is %+v", x.Verdict)
		}
		done <- err
	}()
	id := <-questions
	stopFirst()
	_, stopSecond := routertest.Start(t, s, router.Options{})
	reply, err := natstest.Conn(t, s).Request("hooks.approve."+id, []byte(`{"option":"Allow"}`), patience)
	if err != nil || reply.Header.Get("Nats-Service-Error") != "" {
		t.Fatalf("%+v, %v", reply, err)
	}
	decided := time.Now()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if took := time.Since(decided); took > 5*time.Second {
		t.Errorf("the answer came %v after the decision", took)
	}
	if n := len(careful.Calls()); n != 1 {
		t.Errorf("the hook was called %d times", n)
	}
	stopSecond()
}

// The agent leaves; the approval request stays, and the same agent's next event is
// another one.
func TestExecuteLeavesTheQuestionWithTheRouter(t *testing.T) {
	t.Parallel()
	b := hooktest.Start(t)
	b.Register(t, worker.Registration{ID: "careful", Events: toolPre}, hooktest.Script(asking).Handle)
	ctx, leave := context.WithCancel(t.Context())
	a := connect(t, hookrouter.Options{Conn: b.Conn(t)}, agent.Options{Session: "s1", OnPending: func(verdict.Approval) { leave() }})
	_, err := a.Execute(ctx, events.ToolPre, nil)
	var open *agent.PendingError
	if !errors.As(err, &open) || !errors.Is(err, context.Canceled) {
		t.Fatalf("error is %v", err)
	}
	reply, err := b.Conn(t).Request("hooks.approvals", nil, patience)
	if err != nil || !strings.Contains(string(reply.Data), open.Approval.ID) {
		t.Errorf("%s, %v", reply.Data, err)
	}
}

// The router's own injections, budget and turns, through a session.
func TestSessionOnARouter(t *testing.T) {
	t.Parallel()
	b := hooktest.Start(t)
	big := strings.Repeat("x", 10_000)
	b.Register(t, worker.Registration{ID: "talk", Events: []string{"talk"}}, hooktest.Script(chain.Result{
		Action: chain.InjectContext, ContextInjection: big, UserMessage: "said a lot", UserMessageLevel: chain.LevelWarning,
	}).Handle)
	memory := &agent.MemoryContext{}
	var screen strings.Builder
	session := newSession(t, b.Agent(t, "s1"), agent.SessionOptions{Context: memory, Display: agent.NewTerminalDisplay(&screen)})
	kept := func() int { list, _ := memory.Messages(t.Context()); return len(list) }
	used := []int{}
	for range 5 { // 2500 tokens each: four fit a turn
		x, err := session.Execute(t.Context(), "talk", nil)
		if err != nil || !x.Permitted() {
			t.Fatalf("%+v, %v", x, err)
		}
		used = append(used, x.InjectedTokens)
	}
	if diff := cmp.Diff([]int{2500, 5000, 7500, 10000, 10000}, used); diff != "" || kept() != 4 {
		t.Errorf("%d kept, tokens (-want +got):\n%s", kept(), diff)
	}
	if err := session.NewTurn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := session.Execute(t.Context(), "talk", nil); err != nil || kept() != 5 {
		t.Errorf("%d kept after a new turn, %v", kept(), err)
	}
	if err := session.End(t.Context()); err != nil {
		t.Error(err)
	}
	if want := strings.Repeat("[warning] hook:talk: said a lot\n", 6); screen.String() != want {
		t.Errorf("the user saw %q", screen.String())
	}
}
