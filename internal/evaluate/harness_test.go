package evaluate_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/evaluate"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func TestMain(m *testing.M) {
	testkit.Parallel(8) // the tests wait for hooks and connections
	goleak.VerifyTestMain(m)
}

// fixture is a bus with a router that records, an agent, and a worker whose hooks record each call.
type fixture struct {
	t      *testing.T
	nc     *nats.Conn
	bus    *natsx.Conn
	agent  *agent.Agent
	worker *worker.Worker

	mu    sync.Mutex // guards calls
	calls []call
}

// call is a call that a hook received.
type call struct {
	hook string
	left time.Duration // of its timeout
	worker.Call
	worker.Event
}

func newFixture(t *testing.T, o router.Options) *fixture {
	t.Helper()
	if o.Audit.View.Data == "" {
		o.Audit.View.Data = recorder.Full
	}
	s := natstest.Server(t)
	routertest.Start(t, s, o)
	f := &fixture{t: t, nc: natstest.Conn(t, s)}
	var err error
	if f.bus, err = natsx.New(f.nc, "", nil); err != nil {
		t.Fatal(err)
	}
	client := natstest.Client(t, hookrouter.Options{Conn: f.nc})
	if f.agent, err = agent.New(client, agent.Options{Session: "s1", Source: "/test"}); err != nil {
		t.Fatal(err)
	}
	f.worker = natstest.Worker(t, client, worker.Options{})
	return f
}

// hook registers a hook for tool:pre, or for the events of reg.
func (f *fixture) hook(reg chain.Registration, handler worker.Handler) (unregister func()) {
	f.t.Helper()
	if reg.Events == nil {
		reg.Events = []string{events.ToolPre}
	}
	end, err := f.worker.Register(f.t.Context(), reg, func(ctx context.Context, ev worker.Event) (worker.Result, error) {
		end, _ := ctx.Deadline()
		f.mu.Lock()
		f.calls = append(f.calls, call{reg.ID, time.Until(end), worker.CallFrom(ctx), ev})
		f.mu.Unlock()
		return handler(ctx, ev)
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return func() {
		f.t.Helper()
		if err := end(f.t.Context()); err != nil {
			f.t.Fatal(err)
		}
	}
}

// always returns a handler that always gives the same answer.
func always(r chain.Result) worker.Handler {
	return func(context.Context, worker.Event) (worker.Result, error) { return r, nil }
}

// emit emits a tool:pre and returns the chain's id.
func (f *fixture) emit(data string) (chainID string) {
	f.t.Helper()
	answer, err := f.agent.Emit(f.t.Context(), events.ToolPre, json.RawMessage(data))
	if err != nil {
		f.t.Fatal(err)
	}
	return answer.ChainID
}

// seen returns the calls since it was last called.
func (f *fixture) seen() []call {
	f.mu.Lock()
	defer f.mu.Unlock()
	calls := f.calls
	f.calls = nil
	return calls
}

func hooksOf(calls []call) []string {
	ids := []string{}
	for _, c := range calls {
		ids = append(ids, c.hook)
	}
	return ids
}

// log returns a source of the live log.
func (f *fixture) log(filter evaluate.RecordingFilter) evaluate.Source {
	f.t.Helper()
	l, err := query.Open(f.t.Context(), f.bus)
	if err != nil {
		f.t.Fatal(err)
	}
	return evaluate.FromLog(l, filter)
}

// replay replays the live log through the registered hooks.
func (f *fixture) replay() ([]evaluate.Replayed, evaluate.Summary) {
	f.t.Helper()
	return run(f.t, f.log(evaluate.RecordingFilter{}), evaluate.NewLive(f.bus, true).Replay)
}

func run(t *testing.T, source evaluate.Source, policy evaluate.Policy) (list []evaluate.Replayed, report evaluate.Summary) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err := evaluate.Replay(ctx, source, policy, evaluate.ReplayOptions{Parallel: 4}, func(r evaluate.Replayed) error {
		list = append(list, r)
		report.Add(r)
		return nil
	})
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	return list, report
}

// reason returns why a result was refused.
func reason(r evaluate.Replayed) string {
	if r.Refusal == nil {
		return ""
	}
	return r.Refusal.Error()
}

func busOf(t *testing.T, nc *nats.Conn, prefix string) *natsx.Conn {
	t.Helper()
	b, err := natsx.New(nc, prefix, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
