package session_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/session"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

func TestMain(m *testing.M) {
	testkit.Parallel(8) // they wait for watches
	goleak.VerifyTestMain(m)
}

// open returns a replica's store on a server.
func open(t *testing.T, s natsx.InProcess) *session.Store {
	t.Helper()
	conn := natstest.Connect(t, natsx.Options{InProcess: s})
	bucket, err := conn.OpenBucket(t.Context(), session.Bucket(conn.Prefix(), 1))
	if err != nil {
		t.Fatal(err)
	}
	return session.New(bucket, slog.New(slog.DiscardHandler))
}

func get(t *testing.T, s *session.Store, id string) session.State {
	t.Helper()
	state, err := s.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// spend injects n tokens into the session "s1", whatever the budget.
func spend(t *testing.T, s *session.Store, n int) {
	t.Helper()
	_, err := s.Spend(t.Context(), "s1", "tool:pre", "", func(_ verdict.Limits, used int, _ []chain.ContextInjection) verdict.Verdict { return injects(used, n) })
	if err != nil {
		t.Fatal(err)
	}
}

func injects(used, n int) verdict.Verdict {
	return verdict.Verdict{InjectedTokens: used + n, Injected: []verdict.Injected{{Hook: "notes", Bytes: 4 * n, Tokens: n}}}
}

func TestAnUnknownSessionIsNew(t *testing.T) {
	t.Parallel()
	state := get(t, open(t, natstest.Server(t)), "s1")
	if state.Session != "s1" || state.Turn != 0 || state.Ended != nil {
		t.Errorf("it is %+v", state)
	}
}

// A prompt begins a turn, and so does an execution that no prompt announced.
func TestTurns(t *testing.T) {
	t.Parallel()
	store := open(t, natstest.Server(t))
	for i, step := range []struct {
		event string
		turn  int
	}{
		{events.PromptSubmit, 1},
		{events.ExecutionStart, 1}, // of that prompt
		{events.ExecutionStart, 2}, // of its own
		{events.PromptSubmit, 3},
		{events.PromptSubmit, 4},
		{"", 5}, // on request
	} {
		if _, err := store.Begin(t.Context(), "s1", step.event); err != nil {
			t.Fatal(err)
		}
		if got := get(t, store, "s1").Turn; got != step.turn {
			t.Errorf("step %d, %q: turn %d, want %d", i, step.event, got, step.turn)
		}
	}
}

// A new turn has the whole budget, and lists no injections of the last one.
func TestATurnBeginsWithItsBudget(t *testing.T) {
	t.Parallel()
	store := open(t, natstest.Server(t))
	spend(t, store, 70)
	state := get(t, store, "s1")
	if len(state.Injections) != 1 || state.Used != 70 {
		t.Fatalf("after an injection: %+v", state)
	}
	one := state.Injections[0]
	if one.Event != "tool:pre" || one.Hook != "notes" || one.Bytes != 280 || one.Tokens != 70 || one.Time == "" {
		t.Errorf("the injection is stored as %+v", one)
	}
	if _, err := store.Begin(t.Context(), "s1", events.PromptSubmit); err != nil {
		t.Fatal(err)
	}
	if state := get(t, store, "s1"); state.Used != 0 || len(state.Injections) != 0 {
		t.Errorf("in the next turn: %+v", state)
	}
}

// Two replicas inject at the same time. Each token of the budget is spent once, and none
// beyond it.
func TestEveryTokenIsSpentOnce(t *testing.T) {
	t.Parallel()
	const budget, each, rounds = 100, 3, 20 // 120 tokens are asked for
	server := natstest.Server(t)
	var mu sync.Mutex
	delivered := 0
	var wg sync.WaitGroup
	for range 2 {
		store := open(t, server)
		wg.Go(func() {
			for range rounds {
				v, err := store.Spend(t.Context(), "s1", "tool:pre", "", func(_ verdict.Limits, used int, _ []chain.ContextInjection) verdict.Verdict {
					if used+each > budget {
						return verdict.Verdict{InjectedTokens: used}
					}
					return injects(used, each)
				})
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				delivered += len(v.Injected) * each
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	state := get(t, open(t, server), "s1")
	if want := budget / each * each; state.Used != want || delivered != want || len(state.Injections) != want/each {
		t.Errorf("%d tokens delivered, %d counted, %d injections stored; want %d tokens", delivered, state.Used, len(state.Injections), want)
	}
}

// A verdict that injects nothing writes nothing.
func TestAVerdictWithoutInjectionsWritesNothing(t *testing.T) {
	t.Parallel()
	store := open(t, natstest.Server(t))
	if err := store.Limit(t.Context(), "s1", verdict.Limits{Size: 10, Budget: 20}); err != nil {
		t.Fatal(err)
	}
	_, err := store.Spend(t.Context(), "s1", "tool:pre", "", func(lowered verdict.Limits, used int, _ []chain.ContextInjection) verdict.Verdict {
		if lowered != (verdict.Limits{Size: 10, Budget: 20}) || used != 0 {
			t.Errorf("composed with %+v and %d used", lowered, used)
		}
		return verdict.Verdict{InjectedTokens: 999}
	})
	if state := get(t, store, "s1"); err != nil || state.Used != 0 {
		t.Errorf("it is stored: %+v, %v", state, err)
	}
}

// A replica that follows the bucket sees what the others spend.
func TestUsedFollowsTheOtherReplicas(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	writer, reader := open(t, server), open(t, server)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { reader.Run(ctx) })
	defer wg.Wait()
	defer cancel()
	spend(t, writer, 40)
	if got := writer.Used("s1"); got != 40 {
		t.Errorf("the replica that wrote it shows %d tokens", got)
	}
	testkit.Eventually(t, "the other replica shows 40 tokens", func() bool { return reader.Used("s1") == 40 })
	if _, err := writer.Begin(t.Context(), "s1", events.PromptSubmit); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the other replica shows the new turn", func() bool { return reader.Used("s1") == 0 })
}

var always = approval.Decision{Option: "Allow always", Granted: true, DecidedBy: "ann"}

func request(id string) approval.Record {
	return asking(id, "s1", "deploys", "Deploy?")
}

// asking is the approval request of a hook whose id is its name.
func asking(id, session, hook, prompt string) approval.Record {
	return approval.Record{Request: approval.Request{ID: id, Session: session, Hook: hook, Prompt: prompt}, HookID: hook}
}

func remember(t *testing.T, s *session.Store, q approval.Record, arrived time.Time) {
	t.Helper()
	epoch, err := s.Epoch(t.Context(), q.Session) // a person is asked now
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Remember(t.Context(), &held.Event{Record: q, Arrived: arrived, Epoch: epoch}, always); err != nil {
		t.Fatal(err)
	}
}

// granted returns the approval that answers a hook's prompt in the session "s1".
func granted(t *testing.T, s *session.Store, hook, prompt string) (id, by string) {
	t.Helper()
	id, by, err := s.Granted(t.Context(), &held.Event{Record: asking("", "s1", hook, prompt)})
	if err != nil {
		t.Fatal(err)
	}
	return id, by
}

// A grant answers the same prompt of the same hook, and is stored once.
func TestAGrantIsRememberedOnce(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	first, second := open(t, server), open(t, server)
	for _, store := range []*session.Store{first, second, first} {
		remember(t, store, request("a1"), time.Now())
	}
	if got := get(t, first, "s1").Grants; len(got) != 1 {
		t.Errorf("%d grants are stored: %+v", len(got), got)
	}
	if id, by := granted(t, second, "deploys", "Deploy?"); id != "a1" || by != "ann" {
		t.Errorf("the prompt is answered by approval %q of %q", id, by)
	}
	for _, other := range [][2]string{{"deploys", "Deploy it?"}, {"other", "Deploy?"}} {
		if id, _ := granted(t, second, other[0], other[1]); id != "" {
			t.Errorf("%v is answered by approval %q", other, id)
		}
	}
	if id, _, err := first.Granted(t.Context(), &held.Event{Record: asking("", "s2", "deploys", "Deploy?")}); id != "" || err != nil {
		t.Errorf("another session is answered by approval %q, %v", id, err)
	}
}

// Where it is proven who sent an event, a grant is for that sender and that hook alone.
func TestAGrantIsForTheProvenSenderAndHook(t *testing.T) {
	t.Parallel()
	store := open(t, natstest.Server(t))
	of := func(id, emitter, hookID string) approval.Record {
		r := request(id)
		r.Emitter, r.HookID = emitter, hookID
		return r
	}
	remember(t, store, of("a1", "nats AGENTS/coder", "deploys"), time.Now())
	remember(t, store, of("a2", "", "deploys"), time.Now())
	for _, c := range []struct {
		who  string
		r    approval.Record
		want string
	}{
		{"the same sender and hook", of("", "nats AGENTS/coder", "deploys"), "a1"},
		{"another agent with the same session id", of("", "nats AGENTS/other", "deploys"), ""},
		{"another hook with the same name", of("", "nats AGENTS/coder", "impostor"), ""},
		{"a sender that is not proven", of("", "", "deploys"), "a2"},
		{"a hook of the same name, the sender not proven", of("", "", "renamed"), "a2"},
	} {
		if id, _, err := store.Granted(t.Context(), &held.Event{Record: c.r}); id != c.want || err != nil {
			t.Errorf("%s: approval %q, %v; want %q", c.who, id, err, c.want)
		}
	}
}

// Where it is proven who sent an event, a grant is for the same content alone, and one that
// was stored without is for none.
func TestAGrantIsForTheSameContent(t *testing.T) {
	t.Parallel()
	store := open(t, natstest.Server(t))
	of := func(id, emitter, content string) *held.Event {
		r := &held.Event{Record: request(id), Content: content, Arrived: time.Now()}
		r.Emitter = emitter
		return r
	}
	for _, r := range []*held.Event{of("old", "nats agent/a", ""), of("a1", "nats agent/b", "one"), of("a2", "", "")} {
		if err := store.Remember(t.Context(), r, always); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		r    *held.Event
		want string
	}{
		{of("", "nats agent/a", "one"), ""},
		{of("", "nats agent/a", ""), "old"},
		{of("", "nats agent/b", "one"), "a1"},
		{of("", "nats agent/b", "two"), ""},
		{of("", "nats agent/b", ""), ""},
		{of("", "", ""), "a2"},
	} {
		if id, _, err := store.Granted(t.Context(), c.r); id != c.want || err != nil {
			t.Errorf("%s with the content %q: approval %q, %v; want %q", c.r.Emitter, c.r.Content, id, err, c.want)
		}
	}
}

// The store is told of one decision more than once: a revoked one stays revoked.
func TestARevokedApprovalIsNotRememberedAgain(t *testing.T) {
	t.Parallel()
	store := open(t, natstest.Server(t))
	remember(t, store, request("a1"), time.Now())
	n, err := store.Revoke(t.Context(), "s1", "deploys", "")
	if n != 1 || err != nil {
		t.Fatalf("%d grants revoked, %v", n, err)
	}
	remember(t, store, request("a1"), time.Now())
	if id, _ := granted(t, store, "deploys", "Deploy?"); id != "" {
		t.Error("the revoked grant is back")
	}
	remember(t, store, request("a2"), time.Now())
	if id, _ := granted(t, store, "deploys", "Deploy?"); id != "a2" {
		t.Errorf("after a new decision the prompt is answered by %q, want a2", id)
	}
}

func TestRevokeSelects(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	for i, test := range []struct {
		hook, prompt string
		revoked      int
	}{
		{"", "", 3},
		{"deploys", "", 2},
		{"deploys", "Deploy?", 1},
		{"nobody", "", 0},
	} {
		store, id := open(t, server), fmt.Sprint("s", i)
		for n, q := range [][2]string{{"deploys", "Deploy?"}, {"deploys", "Roll back?"}, {"other", "Deploy?"}} {
			remember(t, store, asking(fmt.Sprint("a", n), id, q[0], q[1]), time.Now())
		}
		n, err := store.Revoke(t.Context(), id, test.hook, test.prompt)
		if left := len(get(t, store, id).Grants); n != test.revoked || left != 3-n || err != nil {
			t.Errorf("hook %q, prompt %q: %d revoked, %d left, %v", test.hook, test.prompt, n, left, err)
		}
	}
}

// The end of a session drops everything. The answer to a request of its old life may come
// later, and is not remembered in the new one.
func TestTheEndForgets(t *testing.T) {
	t.Parallel()
	store := open(t, natstest.Server(t))
	arrived := time.Now()
	remember(t, store, request("a1"), arrived)
	spend(t, store, 40)
	if err := store.End(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	state := get(t, store, "s1")
	if state.Session != "s1" || state.Ended == nil || state.Used != 0 || len(state.Grants) != 0 || len(state.Injections) != 0 {
		t.Fatalf("after the end: %+v", state)
	}
	remember(t, store, request("a2"), arrived)
	if id, _ := granted(t, store, "deploys", "Deploy?"); id != "" {
		t.Errorf("approval %q of an event before the end is remembered", id)
	}
	remember(t, store, request("a3"), state.Ended.Add(time.Nanosecond))
	if id, _ := granted(t, store, "deploys", "Deploy?"); id != "a3" {
		t.Errorf("after an event behind the end the prompt is answered by %q, want a3", id)
	}
}
