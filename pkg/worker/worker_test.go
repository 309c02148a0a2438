package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/hooktest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func deny(reason string) worker.Handler { return hooktest.Script(chain.Denial(reason)).Handle }

func TestAnswersReachTheAgent(t *testing.T) {
	t.Parallel()
	_, w, a := one(t, router.Options{})
	injected := chain.Injection("héllo")
	injected.ContextInjections = []chain.ContextInjection{{Content: "héllo", Role: chain.RoleSystem, HookName: "hook", HookID: "hook", Event: "tool:pre"}}
	for sentence, c := range map[string]struct {
		answer func() (worker.Result, error)
		want   chain.Result
	}{
		"continue": {worker.Continue, chain.Result{Action: chain.Continue}},
		"deny":     {func() (worker.Result, error) { return worker.Deny("not %d", 5) }, chain.Denial("not 5")},
		"modify":   {func() (worker.Result, error) { return worker.Modify(map[string]int{"n": 2}) }, chain.Result{Action: chain.Continue, Data: json.RawMessage(`{"n":2}`)}},
		"inject":   {func() (worker.Result, error) { return worker.Inject("héllo") }, injected},
		"ask":      {func() (worker.Result, error) { return worker.Ask("sure?", "Yes", "No") }, chain.Question("sure?", "Yes", "No")},
	} {
		t.Run(sentence, func(t *testing.T) {
			unregister := register(t, w, worker.Registration{ID: "hook"}, func(context.Context, worker.Event) (worker.Result, error) { return c.answer() })
			got := emit(t, a, `{"n":1}`)
			if c.want.Data == nil {
				got.Data = nil
			}
			if diff := cmp.Diff(c.want, got.Result); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if got.Hooks != 1 || len(got.FailedOpen) != 0 {
				t.Errorf("%d hooks, failed open %q", got.Hooks, got.FailedOpen)
			}
			if err := unregister(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestHandlerLearnsOfItsCall(t *testing.T) {
	t.Parallel()
	s, w, _ := one(t, router.Options{})
	seen := make(chan worker.Call, 8)
	var left time.Duration
	look := func(ctx context.Context, ev worker.Event) (worker.Result, error) {
		if end, ok := ctx.Deadline(); ok {
			left = time.Until(end)
		}
		seen <- worker.CallFrom(ctx)
		return worker.Continue()
	}
	register(t, w, worker.Registration{ID: "hook", TimeoutMS: 700}, look)
	register(t, w, worker.Registration{ID: "beside", Mode: chain.Shadow}, func(ctx context.Context, _ worker.Event) (worker.Result, error) {
		seen <- worker.CallFrom(ctx)
		return worker.Continue()
	})
	trace := "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	nc := natstest.Conn(t, s)
	msg := request(t, nc, "hooks.emit.tool.pre", `{}`, "traceparent", trace, "tracestate", "a=b")
	calls := map[chain.Mode]worker.Call{}
	for range 2 {
		select {
		case call := <-seen:
			calls[call.Mode] = call
		case <-time.After(patience):
			t.Fatal("no call")
		}
	}
	call, shadow := calls[chain.Enforce], calls[chain.Shadow]
	if call.ChainID != msg.Header.Get("Hook-Chain-Id") || call.ChainID == "" || shadow.ChainID != call.ChainID {
		t.Errorf("chain ids %q and %q", call.ChainID, shadow.ChainID)
	}
	if call.CallID == "" || call.CallID == shadow.CallID {
		t.Errorf("call ids %q and %q", call.CallID, shadow.CallID)
	}
	if call.Traceparent != trace || call.Tracestate != "a=b" {
		t.Errorf("trace %q, %q", call.Traceparent, call.Tracestate)
	}
	if left <= 0 || left > 700*time.Millisecond {
		t.Errorf("%s were left", left)
	}
	if zero := worker.CallFrom(t.Context()); zero != (worker.Call{}) {
		t.Errorf("outside of a call: %+v", zero)
	}
}

func TestFailuresHaveTheirClass(t *testing.T) {
	t.Parallel()
	b := hooktest.Start(t)
	a := b.Agent(t, "s1")
	for sentence, c := range map[string]struct {
		handler worker.Handler
		want    chain.Failure
	}{
		"an error": {func(context.Context, worker.Event) (worker.Result, error) {
			return worker.Result{}, errors.New("broken")
		}, chain.FailedError},
		"a panic":              {func(context.Context, worker.Event) (worker.Result, error) { panic("oh") }, chain.FailedError},
		"an unknown action":    {hooktest.Script(chain.Result{Action: "allow"}).Handle, chain.FailedInvalid},
		"data that is no JSON": {hooktest.Script(chain.Result{Action: chain.Modify, Data: []byte(`{"a":`)}).Handle, chain.FailedInvalid},
		"a result over 512 KiB, which the router does not take": {
			hooktest.Script(chain.Injection(strings.Repeat("x", 600<<10))).Handle, chain.FailedInvalid,
		},
		"a result that the server does not take": {hooktest.Script(chain.Injection(strings.Repeat("x", 5<<20))).Handle, chain.FailedError},
		"too slow, and deaf": {func(context.Context, worker.Event) (worker.Result, error) {
			<-time.After(300 * time.Millisecond)
			return worker.Continue()
		}, chain.FailedTimeout},
	} {
		t.Run(sentence, func(t *testing.T) {
			w, recorder := b.Worker(t), b.Record(t)
			timeout := 20_000 // a failure is known at once
			if c.want == chain.FailedTimeout {
				timeout = 100
			}
			register(t, w, worker.Registration{ID: "hook", TimeoutMS: timeout}, c.handler)
			answer := emit(t, a, `{}`)
			if answer.Action != chain.Continue || !cmp.Equal(answer.FailedOpen, []string{"hook"}) {
				t.Errorf("answer %+v", answer)
			}
			record, err := recorder.WaitFor(t.Context(), func(r hooktest.Record) bool { return r.Outcome != nil })
			if err != nil {
				t.Fatal(err)
			}
			if hop := record.Outcome.Hooks[0]; hop.Failure != c.want || !hop.FailedOpen {
				t.Errorf("hop %+v, want %s", hop, c.want)
			}
			// The worker lives on.
			register(t, w, worker.Registration{ID: "after", Priority: -1}, deny("still here"))
			if answer := emit(t, a, `{}`); answer.Reason != "still here" {
				t.Errorf("answer %+v", answer)
			}
		})
	}
}

func TestSessionIsTheRoutersWhateverTheDataSays(t *testing.T) {
	t.Parallel()
	s, w, a := one(t, router.Options{})
	guard := hooktest.Script(chain.Denial("no"))
	register(t, w, worker.Registration{ID: "guard", Priority: 1}, guard.Handle)
	for _, data := range []string{`{"session_id":"s2"}`, `{"session_id":5}`, `{"session_id":null}`, `{}`} {
		unregister := register(t, w, worker.Registration{ID: "rewrites"}, hooktest.Script(chain.Result{Action: chain.Modify, Data: []byte(data)}).Handle)
		answer := emit(t, a, `{}`)
		calls := guard.Calls()
		if answer.DeniedBy != "guard" || answer.FailedOpen != nil {
			t.Errorf("%s slipped past the guard: %+v", data, answer)
		} else if last := calls[len(calls)-1]; last.Session != "s1" || string(last.Data) != data {
			t.Errorf("the guard was asked about %+v", last)
		}
		if err := unregister(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	reply := request(t, natstest.Conn(t, s), "hooks.call.guard", `{"session_id":"by hand"}`)
	calls := guard.Calls()
	if last := calls[len(calls)-1]; last.Session != "by hand" || string(reply.Data) != `{"action":"deny","reason":"no"}` {
		t.Errorf("called by hand: %+v, answered %s", last, reply.Data)
	}
	for _, bad := range []string{`[]`, `{"a":1,"a":2}`, `{`} {
		reply := request(t, natstest.Conn(t, s), "hooks.call.guard", bad, "ce-specversion", "1.0", "ce-id", "1", "ce-source", "/x", "ce-type", "tool:pre")
		if code := reply.Header.Get("Nats-Service-Error-Code"); code != "400" {
			t.Errorf("%s: %q %s", bad, code, reply.Data)
		}
	}
}

func TestContributors(t *testing.T) {
	t.Parallel()
	_, w, a := one(t, router.Options{})
	for _, c := range []struct {
		id    string
		value any
		err   error
	}{
		{"object", map[string]int{"n": 1}, nil},
		{"nil", nil, nil},
		{"zero", 0, nil},
		{"empty", "", nil},
		{"false", false, nil},
		{"broken", "unused", errors.New("broken")},
		{"unmarshalable", func() {}, nil},
		{"list", []string{}, nil},
		{"nil-slice", []string(nil), nil},
	} {
		_, err := w.RegisterContributor(t.Context(), worker.Registration{ID: c.id, Channels: []string{"a.b"}},
			func(_ context.Context, channel string) (any, error) {
				if channel != "a.b" {
					t.Errorf("asked for channel %q", channel)
				}
				return c.value, c.err
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	got, err := a.CollectContributions(t.Context(), "a.b", 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	want := agent.Collection{
		Values:  []json.RawMessage{[]byte(`{"n":1}`), []byte(`0`), []byte(`""`), []byte(`false`), []byte(`[]`)},
		From:    []string{"object", "zero", "empty", "false", "list"},
		Missing: []string{"broken", "unmarshalable"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("collected (-want +got):\n%s", diff)
	}
	if _, err := w.RegisterContributor(t.Context(), worker.Registration{ID: "x", Events: []string{"*"}}, nil); err == nil {
		t.Error("a contributor without channels was registered")
	}
}

func TestUnregister(t *testing.T) {
	t.Parallel()
	_, w, a := one(t, router.Options{})
	first := register(t, w, worker.Registration{ID: "hook"}, deny("first"))
	for range 2 { // a second call does no harm
		if err := first(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if answer := emit(t, a, `{}`); answer.Hooks != 0 || answer.Denied() {
		t.Errorf("answer %+v", answer)
	}
	register(t, w, worker.Registration{ID: "hook"}, deny("second"))
	if err := first(t.Context()); err != nil { // nor when the id is taken again
		t.Error(err)
	}
	if answer := emit(t, a, `{}`); answer.Reason != "second" {
		t.Errorf("answer %+v", answer)
	}
}

func TestGuardStaysWithoutItsWorkerUntilItIsRetired(t *testing.T) {
	t.Parallel()
	s, w, a := one(t, router.Options{})
	unregister := register(t, w, worker.Registration{ID: "guard", OnFailure: chain.FailClosed}, hooktest.Script().Handle)
	if err := unregister(t.Context()); err != nil {
		t.Fatal(err)
	}
	if answer := emit(t, a, `{}`); answer.DeniedBy != "guard" || answer.Hooks != 0 || !strings.Contains(answer.Reason, "no_responder") {
		t.Errorf("answer %+v", answer)
	}
	other := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, worker.Options{})
	if err := other.Retire(t.Context(), "guard"); err != nil {
		t.Fatal(err)
	}
	if answer := emit(t, a, `{}`); answer.Denied() {
		t.Errorf("answer %+v", answer)
	}
	register(t, w, worker.Registration{ID: "own", OnFailure: chain.FailClosed}, deny("no"))
	if err := w.Retire(t.Context(), "own"); err != nil {
		t.Fatal(err)
	}
	if answer := emit(t, a, `{}`); answer.Denied() {
		t.Errorf("answer %+v", answer)
	}
}

func TestRegisterSaysWhatIsWrong(t *testing.T) {
	natstest.Bubble(t, saysWhatIsWrong)
}

func saysWhatIsWrong(t *testing.T) {
	s, w, _ := one(t, router.Options{})
	register(t, w, worker.Registration{ID: "taken"}, hooktest.Script().Handle)
	newer := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, worker.Options{})
	register(t, newer, worker.Registration{ID: "newer", Version: "2.0.0"}, hooktest.Script().Handle)
	alone := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s), Prefix: "nobody"}, worker.Options{})
	for sentence, c := range map[string]struct {
		wait time.Duration
		w    *worker.Worker
		reg  worker.Registration
		want string
	}{
		"no event":                {patience, w, worker.Registration{ID: "a"}, "exactly one of events and channels"},
		"a bad id":                {patience, w, worker.Registration{ID: "A", Events: []string{"*"}}, `hook id "A"`},
		"a match that is no CEL":  {patience, w, worker.Registration{ID: "a", Events: []string{"*"}, Match: "data.n >"}, `register hook a: hook "a": `},
		"the same id once more":   {patience, w, worker.Registration{ID: "taken", Events: []string{"*"}}, `hook "taken" is registered by this worker already`},
		"an older version":        {patience, w, worker.Registration{ID: "newer", Events: []string{"*"}, Version: "1.0.0"}, `version "1.0.0" is older`},
		"no router":               {3 * time.Second, alone, worker.Registration{ID: "a", Events: []string{"*"}}, "no router answers on nobody.register.a: start `hook-router`"},
		"a name of a line's end":  {patience, w, worker.Registration{ID: "a", Events: []string{"*"}, Name: "a\nb"}, "control characters"},
		"a time-out of a century": {patience, w, worker.Registration{ID: "a", Events: []string{"*"}, TimeoutMS: 1 << 30}, "timeout_ms is"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), c.wait)
		unregister, err := c.w.On(ctx, c.reg, hooktest.Script().Handle)
		cancel()
		if err == nil || !strings.Contains(err.Error(), c.want) || unregister != nil {
			t.Errorf("%s: error is %v", sentence, err)
		}
	}
	// What was refused left nothing behind.
	register(t, w, worker.Registration{ID: "a"}, hooktest.Script().Handle)
}

func TestOneIDIsRegisteredOnceHoweverManyTryIt(t *testing.T) {
	t.Parallel()
	_, w, a := one(t, router.Options{})
	var won atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			_, err := w.Register(t.Context(), worker.Registration{ID: "hook", Events: []string{"tool:pre"}}, deny(fmt.Sprint(i)))
			if err == nil {
				won.Add(1)
			} else if !strings.Contains(err.Error(), "registered by this worker already") {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := won.Load(); n != 1 {
		t.Errorf("%d of them registered it", n)
	}
	reason := emit(t, a, `{}`).Reason
	for range 20 {
		if again := emit(t, a, `{}`).Reason; again != reason {
			t.Fatalf("answered by %q and by %q", reason, again)
		}
	}
}

func TestInstancesShareTheCallsOfAHook(t *testing.T) {
	t.Parallel()
	s, w, a := one(t, router.Options{})
	other := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, worker.Options{})
	here, there := hooktest.Script(), hooktest.Script()
	register(t, w, worker.Registration{ID: "hook"}, here.Handle)
	leave := register(t, other, worker.Registration{ID: "hook"}, there.Handle)
	const n = 40
	for range n {
		if answer := emit(t, a, `{}`); answer.Hooks != 1 {
			t.Fatalf("answer %+v", answer)
		}
	}
	if h, o := len(here.Calls()), len(there.Calls()); h+o != n || h == 0 || o == 0 {
		t.Errorf("%d and %d calls", h, o)
	}
	if err := leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := len(here.Calls())
	for range 10 {
		emit(t, a, `{}`)
	}
	if got := len(here.Calls()) - before; got != 10 {
		t.Errorf("the one that stayed got %d of 10", got)
	}
}

func TestNoMoreCallsThanMaxInFlight(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	w := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, worker.Options{MaxInFlight: 2})
	a := connectAgent(t, s)
	var now, most atomic.Int32
	register(t, w, worker.Registration{ID: "hook"}, func(context.Context, worker.Event) (worker.Result, error) {
		n := now.Add(1)
		defer now.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		<-time.After(5 * time.Millisecond)
		return worker.Continue()
	})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if answer, err := a.Emit(t.Context(), "tool:pre", nil); err != nil || answer.Hooks != 1 || answer.FailedOpen != nil {
				t.Errorf("%+v, %v", answer, err)
			}
		})
	}
	wg.Wait()
	if n := most.Load(); n != 2 {
		t.Errorf("%d calls at once", n)
	}
}

// A worker that was busy for long would else never catch up with calls that count.
func TestACallThatNobodyWaitsForIsNotRun(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	w := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, worker.Options{MaxInFlight: 1})
	a := connectAgent(t, s)
	var runs atomic.Int32
	goOn := make(chan struct{})
	const timeout = 100 * time.Millisecond
	register(t, w, worker.Registration{ID: "hook", TimeoutMS: int(timeout.Milliseconds())}, func(context.Context, worker.Event) (worker.Result, error) {
		if runs.Add(1) == 1 {
			<-goOn
		}
		return worker.Continue()
	})
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			if answer, err := a.Emit(t.Context(), "tool:pre", nil); err != nil || answer.FailedOpen == nil {
				t.Errorf("%+v, %v; want a call that timed out", answer, err)
			}
		})
	}
	wg.Wait()
	<-time.After(2 * timeout) // the worker counts from when it got a call, which may be late
	close(goOn)
	most := int32(1)
	eventually(t, "a call is answered", func() bool {
		most++
		answer, err := a.Emit(t.Context(), "tool:pre", nil)
		return err == nil && answer.FailedOpen == nil
	})
	if n := runs.Load(); n > most {
		t.Errorf("the handler ran %d times, want %d at the most", n, most)
	}
}
