package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nats.go/micro"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// recoversWithin is how long after an answer was accepted the agent may take to
// know it, whatever was killed before.
const recoversWithin = 5 * time.Second

// The answer of a person holds when the router that holds the wait for it is killed. Where
// that happens more than once, it does so in several lanes side by side: most of the time is
// waiting.
func TestAnAnswerOutlivesTheRouterThatHoldsTheWait(t *testing.T) {
	const wide = 5
	waiting := early(t)
	program, kills := testkit.Program(t, "hook-router", testkit.RaceFlags...), testkit.Volume(t, 1, 5, 50)
	var mu sync.Mutex // guards longest
	var longest time.Duration
	run := func(t *testing.T, n int, waiting func()) {
		l := newLane(t, program)
		for round := range (kills + wide - 1 - n) / wide {
			l.fill(t)
			w := l.holderKilled(t, round*wide+n)
			if round == 0 {
				waiting() // an agent notices in 4 s that its router is gone
			}
			took := l.answered(t, w)
			mu.Lock()
			longest = max(longest, took)
			mu.Unlock()
		}
	}
	run(t, 0, waiting)
	t.Run("lanes", func(t *testing.T) {
		for n := 1; n < min(wide, kills); n++ {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				run(t, n, func() {})
			})
		}
	})
	t.Logf("volume: %d kills of the router that held the wait; from the answer to the agent's verdict at most %v", kills, longest.Round(time.Millisecond))
}

// lane is a NATS server, two routers on it, and a hook that asks.
type lane struct {
	program, url string
	nc           *nats.Conn
	routers      map[string]*routerProcess // by their id in discovery
}

func newLane(t *testing.T, program string) *lane {
	s := natstest.Listening(t)
	l := &lane{program: program, url: s.ClientURL(), nc: natstest.Conn(t, s), routers: map[string]*routerProcess{}}
	l.fill(t)
	askingHook(t, testkit.Within(t, 20*time.Second), l.nc)
	return l
}

// askingHook registers a hook that asks a person and is known for ever.
func askingHook(t *testing.T, ctx context.Context, nc *nats.Conn) {
	t.Helper()
	hook(t, ctx, nc, "asks", `{"events":["tool:pre"],"on_failure":"deny"}`,
		says(`{"action":"ask_user","approval_prompt":"Sure?","approval_options":["Allow once","Deny"],"data":{"command":"ls"}}`))
}

// start starts a router and finds out its id.
func (l *lane) start(t *testing.T) {
	t.Helper()
	r := startRouter(t, l.program, "", "", l.url)
	for id := range taken(t, l.nc, len(l.routers)+1) {
		if l.routers[id] == nil {
			l.routers[id] = r
			return
		}
	}
	t.Fatal("discovery does not know the new router")
}

// fill starts routers until there are two.
func (l *lane) fill(t *testing.T) {
	t.Helper()
	for len(l.routers) < 2 {
		l.start(t)
	}
}

// kill kills a router.
func (l *lane) kill(t *testing.T, id string) {
	t.Helper()
	_ = l.routers[id].End(t, syscall.SIGKILL)
	delete(l.routers, id)
}

// taken is how many executes each router has taken so far, as so many of them
// say.
func taken(t *testing.T, nc *nats.Conn, routers int) map[string]int {
	t.Helper()
	ctx := testkit.Within(t, 20*time.Second)
	taken := map[string]int{}
	for len(taken) < routers {
		inbox := listen(t, nc, nats.NewInbox())
		if err := nc.PublishRequest("$SRV.STATS.hook-router", inbox.Subject, nil); err != nil {
			t.Fatal(err)
		}
		for range routers {
			stats := decode[micro.Stats](t, next(t, ctx, inbox).Data)
			for _, e := range stats.Endpoints {
				if e.Name == "execute" {
					taken[stats.ID] = e.NumRequests
				}
			}
		}
	}
	return taken
}

// waits starts an agent that waits for a person. It returns the approval request, which
// router holds the wait, and where the verdict comes.
func waits(t *testing.T, url string, nc *nats.Conn, routers int) (q verdict.Approval, holder string, told <-chan agent.Execution) {
	t.Helper()
	var before map[string]int
	pending, verdicts := make(chan verdict.Approval, 1), make(chan agent.Execution, 1)
	a, err := agent.New(natstest.Client(t, hookrouter.Options{URL: url}), agent.Options{Session: "s", OnPending: func(q verdict.Approval) {
		before = taken(t, nc, routers) // the agent waits from the next request on
		pending <- q
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx := testkit.Within(t, time.Minute)
	var waiting sync.WaitGroup
	t.Cleanup(func() { waiting.Wait() })
	waiting.Go(func() {
		x, err := a.Execute(ctx, "tool:pre", json.RawMessage(`{"command":"rm -r /"}`))
		if err != nil {
			t.Error(err)
		}
		verdicts <- x
	})
	q = take(t, ctx, pending)
	testkit.Until(t, ctx, "a router holds the wait", func() bool {
		for id, n := range taken(t, nc, routers) {
			if n > before[id] {
				holder = id
			}
		}
		return holder != ""
	})
	return q, holder, verdicts
}

// waiting is an agent that waits for an answer.
type waiting struct {
	q      verdict.Approval
	told   <-chan agent.Execution
	option string // the answer
}

// holderKilled is one agent that waits, and the death of the router that holds its wait. The
// other router is left, or a new one.
func (l *lane) holderKilled(t *testing.T, n int) waiting {
	t.Helper()
	q, holder, told := waits(t, l.url, l.nc, len(l.routers))
	l.kill(t, holder)
	if n%2 == 1 {
		for id := range l.routers {
			l.kill(t, id)
		}
		l.start(t)
	}
	return waiting{q, told, [...]string{"Allow once", "Deny", "Deny", "Allow once"}[n%4]}
}

// answered is the answer that an agent waits for, and how long after it the agent knew it.
func (l *lane) answered(t *testing.T, w waiting) time.Duration {
	t.Helper()
	answer(t, l.nc, w.q.ID, w.option)
	took := expect(t, w.told, w.q, w.option)
	oneDecision(t, l.nc, w.q.ID, w.option)
	return took
}

// answer answers an approval request, until a router says that it was accepted.
func answer(t *testing.T, nc *nats.Conn, id, option string) {
	t.Helper()
	testkit.Until(t, testkit.Within(t, 20*time.Second), "the answer is accepted", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		m, err := nc.RequestWithContext(ctx, "hooks.approve."+id, fmt.Appendf(nil, `{"option":%q}`, option))
		if err != nil {
			return false // NATS has not noticed yet that the router is gone
		}
		if code(m) == "409" && strings.Contains(m.Header.Get("Nats-Service-Error"), fmt.Sprintf("already decided: %q", option)) {
			return true // an answer before this one, without a reply
		}
		if code(m) != "" {
			t.Fatalf("the answer is refused: %v", m.Header)
		}
		return true
	})
}

// expect waits for a verdict, which is what was answered, and returns how long it
// took.
func expect(t *testing.T, told <-chan agent.Execution, q verdict.Approval, option string) time.Duration {
	t.Helper()
	began := time.Now()
	x := take(t, testkit.Within(t, 30*time.Second), told)
	took := time.Since(began)
	if x.Permitted() != approval.Grants(option) || x.Approval == nil || x.Approval.ID != q.ID || x.Approval.Option != option || x.Approval.TimedOut {
		t.Errorf("answered %q, and the agent was told %s %+v", option, x.Action, x.Approval)
	}
	if x.Permitted() && string(x.Data) != `{"command":"ls"}` {
		t.Errorf("permitted with %s", x.Data)
	}
	if took > recoversWithin {
		t.Errorf("the agent knew it %v later", took)
	}
	return took
}

// oneDecision looks for the one record of an approval request in the stream.
func oneDecision(t *testing.T, nc *nats.Conn, id, option string) {
	t.Helper()
	ctx := testkit.Within(t, 20*time.Second)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	subject := "hooks.audit.decision." + id
	stream, err := js.Stream(ctx, "HOOKS_AUDIT")
	if err != nil {
		t.Fatal(err)
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(subject))
	if err != nil {
		t.Fatal(err)
	}
	if n := info.State.Subjects[subject]; n != 1 {
		t.Errorf("approval request %s has %d decisions", id, n)
	}
	m, err := stream.GetLastMsgForSubject(ctx, subject)
	if err != nil {
		t.Fatal(err)
	}
	if got := decode[approval.Decision](t, m.Data).Option; got != option {
		t.Errorf("answered %q, recorded %q", option, got)
	}
}

// When all routers are killed, nobody knows the approval request but the store. In the smallest
// tier the store's own router is killed, with it: see below.
func TestAnAnswerOutlivesAllRouters(t *testing.T) {
	testkit.From(t, testkit.CI)
	waiting := early(t)
	l := newLane(t, testkit.Program(t, "hook-router", testkit.RaceFlags...))
	q, _, told := waits(t, l.url, l.nc, len(l.routers))
	for id := range l.routers {
		l.kill(t, id)
	}
	l.fill(t)
	waiting() // the agent notices in 4 s that its router is gone
	stillOpen(t, l.nc, q)
	answer(t, l.nc, q.ID, "Allow once")
	t.Logf("all routers killed: the verdict %v after the answer", expect(t, told, q, "Allow once").Round(time.Millisecond))
	oneDecision(t, l.nc, q.ID, "Allow once")
}

// The store is killed with the router.
func TestAnAnswerOutlivesNATS(t *testing.T) {
	t.Parallel()
	program := testkit.Program(t, "hook-router", testkit.RaceFlags...)
	store, addr := natstest.StoreDir(t), testkit.FreeAddrs(t, 1)[0]
	r := startRouter(t, program, store, addr, "")
	nc := r.conn(t)
	askingHook(t, testkit.Within(t, 20*time.Second), nc)
	q, _, told := waits(t, r.url, nc, 1)
	_ = r.End(t, syscall.SIGKILL)
	r = startRouter(t, program, store, addr, "")
	nc = r.conn(t)
	stillOpen(t, nc, q)
	answer(t, nc, q.ID, "Allow once")
	t.Logf("NATS killed: the verdict %v after the answer", expect(t, told, q, "Allow once").Round(time.Millisecond))
	oneDecision(t, nc, q.ID, "Allow once")
}

// stillOpen looks for an approval request in the list, with the deadline it had.
func stillOpen(t *testing.T, nc *nats.Conn, q verdict.Approval) {
	t.Helper()
	m := request(t, testkit.Within(t, 20*time.Second), nc, "hooks.approvals", nil, "")
	list := decode[[]approval.Request](t, m.Data)
	if len(list) != 1 || list[0].ID != q.ID || list[0].Expires.String() != q.Expires {
		t.Errorf("after the restart %+v is open, want %s, which expires %s", list, q.ID, q.Expires)
	}
}
