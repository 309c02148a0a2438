package attack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/approvals"
	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/identity"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// An agent makes sessions without an end, and asks in each: it is refused, and people are
// still asked for others.
func TestOneAgentFloodsNobodyElse(t *testing.T) {
	t.Parallel()
	b := newAuthBus(t, router.Options{Approvals: approvals.Options{MaxOpen: 30, MaxPerSession: 2}},
		identity.Identity{Name: "askers", Role: identity.Worker, Hooks: []string{"asks"}})
	ctx := testkit.Within(t, testkit.Patience)
	workers, err := worker.New(b.client("askers"), worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(context.Context, events.Event) (worker.Result, error) { return worker.Ask("Deploy?") }
	if _, err := workers.Register(ctx, worker.Registration{ID: "asks", Events: []string{"tool:pre"}}, ask); err != nil {
		t.Fatal(err)
	}
	execute := func(agent, session string) (code string, v verdict.Verdict) {
		t.Helper()
		m, err := b.conn(agent).Conn().RequestMsgWithContext(ctx, &nats.Msg{Subject: "hooks.execute.tool.pre", Data: []byte(`{"session_id":"` + session + `"}`), Header: nats.Header{"Hook-Wait-Ms": {"1"}}})
		if err != nil {
			t.Fatal(err)
		}
		if code = m.Header.Get("Nats-Service-Error-Code"); code == "" {
			if v, err = verdict.Parse(m.Data); err != nil {
				t.Fatal(err)
			}
		}
		return code, v
	}
	asked := 0
	for n := range 8 {
		switch code, v := execute("coder", fmt.Sprint("s", n)); {
		case v.Action == verdict.Pending:
			asked++
		case code != "429":
			t.Errorf("session %d: code %q, %+v; want 429", n, code, v)
		}
	}
	if asked != 3 {
		t.Errorf("coder has %d open requests of 30; want 3", asked)
	}
	if code, v := execute("rival", "r0"); v.Action != verdict.Pending {
		t.Errorf("rival: code %q, %+v; want that a person is asked", code, v)
	}
	list, total, err := approver.New(b.client("ann")).Pending(ctx, approval.Filter{Limit: 2})
	if err != nil || total != 4 || len(list) != 2 || list[0].Session != "s0" || list[1].Session != "r0" {
		t.Errorf("a short list is %+v of %d, %v; want a request of each agent", list, total, err)
	}
}

// An agent asks so many long questions that a list of them does not fit a message: what others
// ask is in it.
func TestLongQuestionsHideNoOther(t *testing.T) {
	t.Parallel()
	b := newAuthBus(t, router.Options{}, identity.Identity{Name: "askers", Role: identity.Worker, Hooks: []string{"asks"}})
	ctx := testkit.Within(t, testkit.Patience)
	workers, err := worker.New(b.client("askers"), worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(context.Context, events.Event) (worker.Result, error) {
		return worker.Ask(strings.Repeat("\x01", approval.MaxPrompt))
	}
	if _, err := workers.Register(ctx, worker.Registration{ID: "asks", Events: []string{"tool:pre"}}, ask); err != nil {
		t.Fatal(err)
	}
	execute := func(c *nats.Conn, session string) {
		t.Helper()
		m, err := c.RequestMsgWithContext(ctx, &nats.Msg{Subject: "hooks.execute.tool.pre", Data: []byte(`{"session_id":"` + session + `"}`), Header: nats.Header{"Hook-Wait-Ms": {"1"}}})
		if err != nil || m.Header.Get("Nats-Service-Error-Code") != "" {
			t.Fatalf("%v %+v", err, m)
		}
	}
	coder := b.conn("coder").Conn()
	for n := range 50 { // a message has room for 43: each byte takes six in JSON
		execute(coder, fmt.Sprint("s", n))
	}
	execute(b.conn("rival").Conn(), "r0")
	list, total, err := approver.New(b.client("ann")).Pending(ctx, approval.Filter{})
	if err != nil || total != 51 || len(list) == total || list[len(list)-1].Session != "r0" {
		t.Errorf("%d of %d are listed, %v; want the other agent's among them", len(list), total, err)
	}
}

// An agent sends as fast as its connections take it: it is frozen nevertheless, since records
// and leases don't wait behind its requests.
func TestAFloodStopsNoFreeze(t *testing.T) {
	testkit.From(t, testkit.CI) // the flood takes the machine from the other tests
	b := newAuthBus(t, router.Options{})
	oscar := b.conn("oscar").Conn()
	const body = `{"session_id":"s1"}`
	requests := strings.Repeat(fmt.Sprintf("PUB hooks.collect.tool.pre _INBOX.x.y %d\r\n%s\r\n", len(body), body), 500)
	var rivals [4]*byHand
	for i := range rivals {
		rivals[i] = b.byHand("rival")
	}
	for _, rival := range rivals {
		go func() {
			for {
				if _, err := rival.nc.Write([]byte(requests)); err != nil {
					return
				}
			}
		}()
	}
	ctx := testkit.Within(t, testkit.Patience)
	for frozen := 0; frozen < 2; {
		m, err := oscar.RequestWithContext(ctx, "hooks.freeze", []byte(`{"agent":"rival","reason":"it floods"}`))
		if err != nil {
			t.Fatal(err)
		}
		if m.Header.Get("Nats-Service-Error-Code") == "" {
			frozen++
		}
	}
}

// However an agent floods, it is disconnected, and can't connect again; the others are served.
// Nothing in its messages can hide who sends them or blame somebody else: the server counts.
func TestAFloodIsDisconnected(t *testing.T) {
	testkit.From(t, testkit.CI) // the flood takes the machine from the other tests
	if len(testkit.RaceFlags) > 0 {
		t.Skip("with the race detector a router refuses too few requests a second")
	}
	large := `{"session_id":"s1","pad":"` + strings.Repeat("x", 400_000) + `"}`
	const body, hidden = `{"session_id":"s1"}`, "NATS/1.0\r\nNats-Request-Info: x\r\nnats-request-info: y\r\n\r\n"
	for kind, line := range map[string]string{
		"requests":                fmt.Sprintf("PUB hooks.execute.tool.pre _INBOX.x.y %d\r\n%s\r\n", len(body), body),
		"messages without reply":  fmt.Sprintf("PUB hooks.collect.tool.pre %d\r\n%s\r\n", len(body), body),
		"headers that hide":       fmt.Sprintf("HPUB hooks.emit.tool.pre _INBOX.x.y %d %d\r\n%s%s\r\n", len(hidden), len(hidden+body), hidden, body),
		"large requests":          fmt.Sprintf("PUB hooks.execute.tool.pre _INBOX.x.y %d\r\n%s\r\n", len(large), large),
		"answers left unread":     fmt.Sprintf("SUB _INBOX.x 1\r\nPUB hooks.execute.tool.pre _INBOX.x %d\r\n%s\r\n", len(large), large),
		"what it may not send":    "PUB hooks.freeze 0\r\n\r\n",
		"what operators wait for": fmt.Sprintf("PUB hooks.session.turn _INBOX.x.y %d\r\n%s\r\n", len(body), body),
	} {
		t.Run(kind, func(t *testing.T) {
			b := newAuthBus(t, router.Options{})
			b.guard()
			requests := []byte(strings.Repeat(line, 1+40_000/len(line)))
			var rivals [4]*byHand
			for i := range rivals {
				rivals[i] = b.byHand("rival")
				if kind != "answers left unread" {
					go func() { _, _ = io.Copy(io.Discard, rivals[i].in) }()
				}
			}
			var floods sync.WaitGroup
			for _, rival := range rivals {
				floods.Go(func() {
					for {
						if _, err := rival.nc.Write(requests); err != nil {
							return // disconnected
						}
					}
				})
			}
			a, ctx := b.agent("coder"), testkit.Within(t, testkit.Patience)
			b.refused(ctx, "rival")
			testkit.Until(t, ctx, "another agent is served", func() bool { // the router may have lost its connection
				x, err := a.Execute(ctx, events.ToolPre, command("ls"))
				return err == nil && x.Permitted()
			})
			for range 20 {
				if x, err := a.Execute(ctx, events.ToolPre, command("ls")); err != nil || !x.Permitted() {
					t.Fatalf("another agent: %+v, %v", x, err)
				}
			}
			floods.Wait()
		})
	}
}

// An agent lets its answers pile up in the server, at a pace that is no flood: it is disconnected
// before they take the server's memory.
func TestAnswersThatNobodyReadsAreNotKept(t *testing.T) {
	testkit.From(t, testkit.CI)
	if len(testkit.RaceFlags) > 0 {
		t.Skip("with the race detector a router answers too few requests a second")
	}
	b := newAuthBus(t, router.Options{})
	b.guard()
	body := `{"session_id":"s1","pad":"` + strings.Repeat("x", 400_000) + `"}`
	inbox := b.conn("rival").Conn().Opts.InboxPrefix
	var sent atomic.Int64
	for range 4 {
		rival := b.byHand("rival")
		subscribe := fmt.Sprintf("SUB %s.unread 1\r\n", inbox)
		request := fmt.Sprintf("PUB hooks.execute.tool.pre %s.unread %d\r\n%s\r\n", inbox, len(body), body)
		if _, err := rival.nc.Write([]byte(subscribe)); err != nil {
			t.Fatal(err)
		}
		go func() {
			for pace := time.NewTicker(75 * time.Millisecond); ; <-pace.C { // 20 MiB a second, of all
				if _, err := rival.nc.Write([]byte(request)); err != nil {
					return // disconnected
				}
				sent.Add(int64(len(body)))
			}
		}()
	}
	b.refused(testkit.Within(t, testkit.Patience), "rival")
	if most := int64(128 << 20); sent.Load() > most {
		t.Errorf("refused after %d bytes; want at most %d", sent.Load(), most)
	}
}

// refused waits until an identity can't connect.
func (w *authBus) refused(ctx context.Context, name string) {
	w.t.Helper()
	testkit.Until(w.t, ctx, name+" is refused", func() bool {
		c, err := natsx.Connect(natsx.Options{URL: w.s.ClientURL(), Creds: w.creds(name)})
		if err == nil {
			c.Close()
		}
		return err != nil
	})
}

// An agent that reads its answers is not taken for a flood, however many requests it has under way.
func TestABusyAgentIsNotDisconnected(t *testing.T) {
	t.Parallel()
	b := newAuthBus(t, router.Options{})
	b.guard()
	nc, ctx := b.conn("coder").Conn(), testkit.Within(t, testkit.Patience)
	body := []byte(`{"session_id":"s1","pad":"` + strings.Repeat("x", 100_000) + `"}`)
	rounds := testkit.Volume(t, 3, 20, 20)
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			for range rounds { // a busy machine may refuse some
				if _, err := nc.RequestWithContext(ctx, "hooks.execute.tool.pre", body); err != nil && !errors.Is(err, nats.ErrNoResponders) {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := nc.Stats().Reconnects; n != 0 {
		t.Errorf("it was disconnected %d times", n)
	}
}

// Requests to begin turns or to end a session count among those of the session and of the agent,
// over NATS and HTTP: without the limit, two agents with tokens take every place of the router.
func TestTurnsHaveTheLimitsOfEvents(t *testing.T) {
	t.Parallel()
	b := newAuthBus(t, router.Options{Dispatch: dispatch.Options{MaxPerAgent: 2, MaxPerSession: 1}}, identity.Identity{Name: "slow", Role: identity.Worker, Hooks: []string{"slow"}})
	h := &httpBus{authBus: b}
	h.coder, h.rival = h.token("coder", time.Time{}), h.token("rival", time.Time{})
	testkit.Eventually(t, "the HTTP API is open", func() bool { return b.s.AgentAddr() != "" })
	h.url = "http://" + b.s.AgentAddr()
	ctx := testkit.Within(t, testkit.Patience)
	workers, err := worker.New(b.client("slow"), worker.Options{})
	ok(t, err)
	called, release := make(chan struct{}, 2), make(chan struct{})
	defer close(release)
	hang := func(context.Context, events.Event) (worker.Result, error) {
		called <- struct{}{}
		<-release
		return worker.Continue()
	}
	_, err = workers.Register(ctx, worker.Registration{ID: "slow", Events: []string{"tool:pre"}, TimeoutMS: 30_000}, hang)
	ok(t, err)
	coder := b.conn("coder").Conn()
	both := func(what, session, want string) {
		t.Helper()
		for _, verb := range []string{"turn", "end"} {
			body := `{"session_id":"` + session + `"}`
			m, err := coder.RequestWithContext(ctx, "hooks.session."+verb, []byte(body))
			if err != nil || m.Header.Get("Nats-Service-Error-Code") != want {
				t.Errorf("%s, %s over NATS: %+v, %v", what, verb, m, err)
			}
			if status, text := h.post("/v1/session/"+verb, h.coder, body); fmt.Sprint(status) != cmp.Or(want, "200") {
				t.Errorf("%s, %s over HTTP: %d %s", what, verb, status, text)
			}
		}
	}
	hold := func(session string) {
		t.Helper()
		ok(t, coder.PublishMsg(&nats.Msg{Subject: "hooks.execute.tool.pre", Reply: coder.NewInbox(), Data: []byte(`{"session_id":"` + session + `"}`)}))
		testkit.Receive(t, "a call", called)
	}
	hold("s1")
	both("a busy session", "s1", "429")
	both("another session", "s2", "")
	hold("s3")
	both("a busy agent", "s2", "429")
	if status, text := h.post("/v1/session/turn", h.rival, `{"session_id":"s1"}`); status != 200 {
		t.Errorf("another agent: %d %s", status, text)
	}
}
