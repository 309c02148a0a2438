package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// A worker is killed mid-call: the call in flight fails by its time-out, every later one is
// known at once to have no worker, or goes to the other worker.
func TestAWorkerIsKilledMidCall(t *testing.T) {
	t.Parallel()
	r := startRouter(t, testkit.Program(t, "hook-router"), natstest.StoreDir(t), "127.0.0.1:0", "")
	for n, tt := range []struct {
		name    string
		policy  chain.Policy
		workers int
		tier    testkit.Tier // the smallest has each policy and each number once
	}{
		{"the only one, of a guard", chain.FailClosed, 1, testkit.Smoke},
		{"the only one, of a hook that may fail", chain.FailOpen, 1, testkit.CI},
		{"one of two, of a guard", chain.FailClosed, 2, testkit.CI},
		{"one of two, of a hook that may fail", chain.FailOpen, 2, testkit.Smoke},
	} {
		t.Run(tt.name, func(t *testing.T) {
			testkit.From(t, tt.tier)
			t.Parallel() // each waits for the time-out
			ctx := testkit.Within(t, 60*time.Second)
			nc := r.conn(t)
			id, event := fmt.Sprintf("hook%d", n), fmt.Sprintf("e%d", n)
			inside := listen(t, nc, "test.inside."+id)
			workers := map[string]*testkit.Process{}
			for range tt.workers {
				w := startWorker(t, r.url, worker.Registration{ID: id, Events: []string{event}, OnFailure: tt.policy, TimeoutMS: 1500})
				workers[w.Pid()] = w
			}
			answer := make(chan *nats.Msg, 1)
			go func() {
				m, err := nc.RequestWithContext(ctx, "hooks.emit."+event, []byte(`{"hang":true}`))
				if err != nil {
					t.Errorf("the call in flight: %v", err)
				}
				answer <- m
			}()
			pid := string(next(t, ctx, inside).Data)
			_ = workers[pid].End(t, syscall.SIGKILL)
			failedBy(t, <-answer, id, tt.policy, "timeout", "no_responder")
			delete(workers, pid)

			for range 5 {
				began := time.Now()
				m := request(t, ctx, nc, "hooks.emit."+event, nil, `{}`)
				if took := time.Since(began); took > 2*time.Second {
					t.Errorf("the next call took %v", took)
				}
				if tt.workers == 1 {
					failedBy(t, m, id, tt.policy, "no_responder")
					list := decode[[]registry.Listing](t, request(t, ctx, nc, "hooks.registry", nil, "").Data)
					if i := slices.IndexFunc(list, func(l registry.Listing) bool { return l.ID == id }); i < 0 || len(list[i].Instances) != 0 {
						t.Errorf("the registry still lists the worker as alive: %+v", list)
					}
					continue
				}
				if res := decode[chain.Result](t, m.Data); m.Header.Get("Hook-Failed-Open") != "" || workers[res.ContextInjection] == nil {
					t.Errorf("the next call did not go to the other worker: %v %s", m.Header, m.Data)
				}
			}
		})
	}
}

// failedBy checks that a hook failed, in one of these ways, and what that meant.
func failedBy(t *testing.T, m *nats.Msg, id string, policy chain.Policy, classes ...string) {
	t.Helper()
	if m == nil {
		return
	}
	res := decode[chain.Result](t, m.Data)
	if policy != chain.FailClosed {
		if res.Action != chain.Continue || m.Header.Get("Hook-Failed-Open") != id {
			t.Errorf("it did not fail open: %v %s", m.Header, m.Data)
		}
		return
	}
	named := false
	for _, c := range classes {
		named = named || strings.Contains(res.Reason, "("+c+")")
	}
	if !res.Denied() || m.Header.Get("Hook-Denied-By") != id || !named {
		t.Errorf("not denied for %v: %v %s", classes, m.Header, m.Data)
	}
}

// workerRole is this test program as a worker: it registers what the environment
// says, hangs where the data asks it to, and answers with its process id.
func workerRole() int {
	ctx, stop := signalContext()
	defer stop()
	var reg worker.Registration
	err := json.Unmarshal([]byte(os.Getenv("HOOKROUTER_TEST_REGISTRATION")), &reg)
	if err != nil {
		return fail(err)
	}
	nc, err := nats.Connect(os.Getenv("HOOKROUTER_TEST_URL"))
	if err != nil {
		return fail(err)
	}
	defer nc.Close()
	client, err := hookrouter.Connect(ctx, hookrouter.Options{Conn: nc})
	if err != nil {
		return fail(err)
	}
	w, err := worker.New(client, worker.Options{})
	if err != nil {
		return fail(err)
	}
	pid := fmt.Sprint(os.Getpid())
	_, err = w.Register(ctx, reg, func(ctx context.Context, ev worker.Event) (worker.Result, error) {
		if strings.Contains(string(ev.Data), `"hang":true`) {
			if err := nc.Publish("test.inside."+reg.ID, []byte(pid)); err != nil {
				return worker.Result{}, err
			}
			<-ctx.Done()
		}
		return worker.Inject(pid)
	})
	if err != nil {
		return fail(err)
	}
	fmt.Println("is ready")
	if err := w.Run(ctx); err != nil {
		return fail(err)
	}
	return 0
}
