package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/hooktest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func TestRegistrationRenewsItself(t *testing.T) {
	natstest.Bubble(t, renewsItself)
}

func renewsItself(t *testing.T) {
	const ttl = 1500 * time.Millisecond
	_, w, a := one(t, router.Options{Registry: registry.Options{TTL: ttl}})
	register(t, w, worker.Registration{ID: "hook"}, deny("here"))
	emits := 0
	for end := time.Now().Add(3 * ttl); time.Now().Before(end); emits++ {
		if answer := emit(t, a, `{}`); answer.Reason != "here" {
			t.Fatalf("after %d emits: %+v", emits, answer)
		}
		<-time.After(5 * time.Millisecond)
	}
	list, err := a.Registry(t.Context())
	if err != nil || len(list) != 1 || len(list[0].Instances) != 1 || list[0].Revision != list[0].Order {
		t.Errorf("renewing wrote something: %+v, %v", list, err)
	}
	t.Logf("volume: %d emits over %s at a time-to-live of %s", emits, 3*ttl, ttl)
}

func TestWorkerThatFallsSilentIsForgotten(t *testing.T) {
	natstest.Bubble(t, fallsSilent)
}

func fallsSilent(t *testing.T) {
	s, _, a := one(t, router.Options{Registry: registry.Options{TTL: 300 * time.Millisecond}})
	nc := natstest.Conn(t, s)
	w, err := worker.New(natstest.Client(t, hookrouter.Options{Conn: nc}), worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	register(t, w, worker.Registration{ID: "hook"}, deny("here"))
	register(t, w, worker.Registration{ID: "guard", Events: []string{"tool:post"}, OnFailure: chain.FailClosed}, deny("here"))
	nc.Close() // dies without a word
	defer func() { _ = w.Close(t.Context()) }()
	if answer := emit(t, a, `{}`); answer.Denied() || !slices.Equal(answer.FailedOpen, []string{"hook"}) {
		t.Errorf("answer %+v", answer)
	}
	eventually(t, "only the guard is left, without an instance", func() bool {
		list, err := a.Registry(t.Context())
		return err == nil && len(list) == 1 && list[0].ID == "guard" && len(list[0].Instances) == 0
	})
	if answer, err := a.Emit(t.Context(), "tool:post", nil); err != nil || answer.DeniedBy != "guard" {
		t.Errorf("%+v, %v", answer, err)
	}
}

func TestHookSurvivesACutConnection(t *testing.T) {
	natstest.Bubble(t, survivesACut)
}

func survivesACut(t *testing.T) {
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	d := &droppable{Server: s}
	w := connect(t, hookrouter.Options{Conn: natstest.Conn(t, d)}, worker.Options{})
	// A call that is lost with the connection costs its time-out.
	register(t, w, worker.Registration{ID: "first", TimeoutMS: 200}, hooktest.Script().Handle)
	register(t, w, worker.Registration{ID: "hook", TimeoutMS: 200}, deny("here"))
	a := connectAgent(t, s)
	for range 3 {
		d.drop()
		eventually(t, "the hook answers again", func() bool { return emit(t, a, `{}`).Reason == "here" })
	}
	list, err := a.Registry(t.Context())
	if err != nil || len(list) != 2 || list[1].ID != "hook" || list[1].Revision != list[1].Order || len(list[1].Instances) != 1 {
		t.Errorf("it was registered anew: %+v, %v", list, err)
	}
}

// gated is a server whose connections can be cut, and kept away.
type gated struct {
	droppable
	closed atomic.Bool
}

func (g *gated) InProcessConn() (net.Conn, error) {
	if g.closed.Load() {
		return nil, errors.New("kept away")
	}
	return g.droppable.InProcessConn()
}

func TestHooksComeBackInTheirOrderWhenTheyWereForgotten(t *testing.T) {
	natstest.Bubble(t, comeBackInOrder)
}

func comeBackInOrder(t *testing.T) {
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{Registry: registry.Options{TTL: time.Second}})
	g := &gated{droppable: droppable{Server: s}}
	w := connect(t, hookrouter.Options{Conn: natstest.Conn(t, g)}, worker.Options{})
	want := []string{"e", "a", "d", "b", "c", "f"}
	for _, id := range want {
		register(t, w, worker.Registration{ID: id}, hooktest.Script().Handle)
	}
	a := connectAgent(t, s)
	g.closed.Store(true)
	g.drop()
	names := func() []string {
		list, err := a.ListHandlers(t.Context(), "tool:pre")
		if err != nil {
			t.Fatal(err)
		}
		return list["tool:pre"]
	}
	eventually(t, "the hooks are forgotten", func() bool { return len(names()) == 0 })
	g.closed.Store(false)
	var got []string
	eventually(t, "the hooks are back", func() bool {
		got = names()
		return len(got) == len(want)
	})
	if !slices.Equal(got, want) {
		t.Errorf("they came back as %q, registered were %q", got, want)
	}
}

func TestGuardNeverOpensWhileTheServerRestarts(t *testing.T) {
	t.Parallel()
	o := embedded.Options{Listen: "127.0.0.1:0", StoreDir: natstest.StoreDir(t), NoSync: true}
	s, err := embedded.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	o.Listen = s.Addr().String() // the same port the next time
	t.Cleanup(func() { s.Stop() })
	url := s.ClientURL()
	routertest.Start(t, nil, router.Options{Registry: registry.Options{TTL: time.Second, Lease: 500 * time.Millisecond}}, natsx.Options{URL: url})
	w, err := worker.New(natstest.Client(t, hookrouter.Options{URL: url}), worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := w.Close(ctx); err != nil { // the router may be without a lease for a moment
			t.Log(err)
		}
	}()
	register(t, w, worker.Registration{ID: "guard", OnFailure: chain.FailClosed}, deny("no"))
	register(t, w, worker.Registration{ID: "hook", Events: []string{"tool:post"}}, deny("here"))
	a, err := agent.New(natstest.Client(t, hookrouter.Options{URL: url, Patience: -1}), agent.Options{})
	if err != nil {
		t.Fatal(err)
	}

	stop, done := make(chan struct{}), make(chan struct{})
	var denied, refused atomic.Int64
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			answer, err := a.Emit(ctx, "tool:pre", nil)
			cancel()
			switch {
			case err != nil:
				refused.Add(1)
			case answer.Denied():
				denied.Add(1)
			default:
				t.Errorf("the guard let it pass: %+v", answer)
			}
		}
	}()
	eventually(t, "the guard denies", func() bool { return denied.Load() > 10 })
	s.Stop()
	eventually(t, "nobody can be asked", func() bool { return refused.Load() > 10 })
	if s, err = embedded.Start(o); err != nil {
		t.Fatal(err)
	}
	before := denied.Load()
	eventually(t, "the guard denies again", func() bool { return denied.Load() > before+10 })
	close(stop)
	<-done
	eventually(t, "the hook answers again", func() bool {
		answer, err := a.Emit(t.Context(), "tool:post", json.RawMessage(`{}`))
		return err == nil && answer.Reason == "here"
	})
	t.Logf("volume: %d denials, %d times nothing was decided", denied.Load(), refused.Load())
}

// answers collects what an agent was told.
type answers chan agent.Answer

func (c answers) emit(t *testing.T, a *agent.Agent) {
	answer, err := a.Emit(t.Context(), "tool:pre", nil)
	if err != nil {
		t.Error(err)
	}
	c <- answer
}

func TestCloseAnswersWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	for sentence, o := range map[string]worker.Options{
		"all at once":      {},
		"one at a time":    {MaxInFlight: 1},
		"a program's name": {Name: "guards", Version: "1.2.3", Instance: "i1"},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := natstest.Server(t)
			routertest.Start(t, s, router.Options{})
			client := natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)})
			w, err := worker.New(client, o)
			if err != nil {
				t.Fatal(err)
			}
			entered, release := make(chan struct{}, 8), make(chan struct{})
			var calls atomic.Int32
			watch := natstest.Conn(t, s)
			if _, err := watch.Subscribe("hooks.call.hook", func(*nats.Msg) { calls.Add(1) }); err != nil {
				t.Fatal(err)
			}
			if err := watch.Flush(); err != nil {
				t.Fatal(err)
			}
			register(t, w, worker.Registration{ID: "hook"}, func(context.Context, worker.Event) (worker.Result, error) {
				entered <- struct{}{}
				<-release
				return worker.Deny("answered")
			})
			const n = 4
			got := make(answers, n)
			a := connectAgent(t, s)
			for range n {
				go got.emit(t, a)
			}
			<-entered
			eventually(t, "the hook has all calls", func() bool { return calls.Load() == n })
			closed := make(chan error, 1)
			go func() { closed <- w.Close(context.Background()) }()
			eventually(t, "the hook is unregistered", func() bool {
				list, err := a.Registry(t.Context())
				return err == nil && len(list) == 0
			})
			select {
			case err := <-closed:
				t.Fatalf("closed (%v) with calls under way", err)
			default:
			}
			close(release)
			for range n {
				if answer := <-got; answer.Reason != "answered" {
					t.Errorf("answer %+v", answer)
				}
			}
			if err := <-closed; err != nil {
				t.Error(err)
			}
			if answer := emit(t, a, `{}`); answer.Hooks != 0 || answer.FailedOpen != nil {
				t.Errorf("after the end: %+v", answer)
			}
			if client.Conn().IsClosed() {
				t.Error("closed the client's connection")
			}
		})
	}
}

func TestCloseGivesUpWithItsContext(t *testing.T) {
	natstest.Bubble(t, closeGivesUp)
}

func closeGivesUp(t *testing.T) {
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	w, err := worker.New(natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}), worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	entered, ended := make(chan struct{}), make(chan struct{})
	register(t, w, worker.Registration{ID: "hook", TimeoutMS: 30_000}, func(ctx context.Context, _ worker.Event) (worker.Result, error) {
		close(entered)
		<-ctx.Done()
		close(ended)
		return worker.Result{}, ctx.Err()
	})
	got := make(answers, 1)
	go got.emit(t, connectAgent(t, s))
	<-entered
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := w.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "still under way") {
		t.Errorf("error is %v", err)
	}
	<-ended // the handler is told
	if answer := <-got; !slices.Equal(answer.FailedOpen, []string{"hook"}) {
		t.Errorf("answer %+v", answer)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	w, err := worker.New(natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}), worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	register(t, w, worker.Registration{ID: "hook"}, deny("no"))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	a := connectAgent(t, s)
	if answer := emit(t, a, `{}`); !answer.Denied() {
		t.Errorf("answer %+v", answer)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if answer := emit(t, a, `{}`); answer.Denied() {
		t.Errorf("answer %+v", answer)
	}
}

func TestWorkerIsDiscovered(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	w := connect(t, hookrouter.Options{Conn: nc}, worker.Options{Name: "guards", Version: "1.2.3", Instance: "i1"})
	register(t, w, worker.Registration{ID: "hook"}, hooktest.Script().Handle)
	emit(t, connectAgent(t, s), `{}`)
	eventually(t, "the call is counted", func() bool { return requests(t, nc, "guards", "hook") == 1 })
}

// requests is how many requests an endpoint of a service has answered.
func requests(t *testing.T, nc *nats.Conn, service, endpoint string) int {
	t.Helper()
	var stats struct {
		Endpoints []struct {
			Name        string `json:"name"`
			NumRequests int    `json:"num_requests"`
		} `json:"endpoints"`
	}
	if err := json.Unmarshal(request(t, nc, "$SRV.STATS."+service, "").Data, &stats); err != nil {
		t.Fatal(err)
	}
	for _, e := range stats.Endpoints {
		if e.Name == endpoint {
			return e.NumRequests
		}
	}
	return -1
}
