package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/hooktest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func TestMain(m *testing.M) {
	testkit.Parallel(16) // they wait for connections and deadlines
	goleak.VerifyTestMain(m)
}

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// connect creates an agent on a client of its own.
func connect(t *testing.T, c hookrouter.Options, o agent.Options) *agent.Agent {
	t.Helper()
	a, err := agent.New(natstest.Client(t, c), o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

var toolPre = []string{events.ToolPre}

func TestEmit(t *testing.T) {
	t.Parallel()
	b := hooktest.Start(t)
	recorder := b.Record(t)
	hook := hooktest.Script()
	b.Register(t, worker.Registration{ID: "hook", Events: toolPre}, hook.Handle)
	for sentence, c := range map[string]struct {
		data any
		want string // what the hook gets, without the router's time stamp
	}{
		"nothing":                            {nil, `{"session_id":"s1"}`},
		"no bytes":                           {json.RawMessage{}, `{"session_id":"s1"}`},
		"bytes, which stay as they are":      {json.RawMessage(`{ "n" : 9007199254740993, "f":1.0, "u":"\u0041<é" }`), `{"session_id":"s1","n" : 9007199254740993,"f":1.0,"u":"\u0041<é"}`},
		"a map":                              {map[string]any{"a": []int{1}}, `{"session_id":"s1","a":[1]}`},
		"a type of this module":              {events.PromptSubmitData{Prompt: "hi"}, `{"session_id":"s1","prompt":"hi"}`},
		"null where the default has a value": {json.RawMessage(`{"session_id":null}`), `{"session_id":null}`},
	} {
		t.Run(sentence, func(t *testing.T) {
			a := b.Agent(t, "s1")
			answer, err := a.Emit(t.Context(), events.ToolPre, c.data)
			if err != nil {
				t.Fatal(err)
			}
			if answer.Hooks != 1 || answer.Action != chain.Continue || answer.EventID == "" || answer.ChainID == "" || answer.DeniedBy != "" || answer.FailedOpen != nil {
				t.Errorf("answer %+v", answer)
			}
			calls := hook.Calls()
			last := calls[len(calls)-1]
			got, _, _ := strings.Cut(string(last.Data), `,"timestamp"`)
			if got+"}" != c.want {
				t.Errorf("the hook got %s\nwant %s", last.Data, c.want)
			}
			if last.Session != "s1" || last.ID != answer.EventID || last.Source != "/agent" || string(last.Data) != string(answer.Data) {
				t.Errorf("the hook got %+v, the agent %+v", last, answer)
			}
			if _, err := recorder.WaitFor(t.Context(), func(r hooktest.Record) bool { return r.ChainID == answer.ChainID && r.Outcome != nil }); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestDataMayNameAnotherSession(t *testing.T) {
	t.Parallel()
	b := hooktest.Start(t)
	own, other := hooktest.Script(), hooktest.Script()
	b.Register(t, worker.Registration{ID: "own", Events: toolPre, SessionID: "s1"}, own.Handle)
	b.Register(t, worker.Registration{ID: "other", Events: toolPre, SessionID: "s2"}, other.Handle)
	a := b.Agent(t, "s1")
	if answer, err := a.Emit(t.Context(), events.ToolPre, map[string]any{"session_id": "s2"}); err != nil || answer.Hooks != 1 {
		t.Errorf("%+v, %v", answer, err)
	}
	if len(own.Calls()) != 0 || len(other.Calls()) != 1 || other.Calls()[0].Session != "s2" {
		t.Errorf("calls %+v and %+v", own.Calls(), other.Calls())
	}
	// Two different ones in one event are refused, whoever sends them.
	m := &nats.Msg{Subject: "hooks.emit.tool.pre", Data: []byte(`{"session_id":"s2"}`), Header: nats.Header{
		"ce-specversion": {"1.0"}, "ce-id": {"1"}, "ce-source": {"/x"}, "ce-type": {"tool:pre"}, "ce-subject": {"s1"},
	}}
	reply, err := b.Conn(t).RequestMsg(m, patience)
	if err != nil || reply.Header.Get("Nats-Service-Error-Code") != "400" || !strings.Contains(reply.Header.Get("Nats-Service-Error"), "differ") {
		t.Errorf("%v, %v", reply, err)
	}
	if len(own.Calls()) != 0 || len(other.Calls()) != 1 {
		t.Error("a hook was called for what was refused")
	}
}

func TestInvalidEventsAreErrors(t *testing.T) {
	t.Parallel()
	b := hooktest.Start(t)
	a := b.Agent(t, "s1")
	for sentence, c := range map[string]struct {
		event string
		data  any
		code  hookrouter.Code // 0: it never left the agent
		want  string
	}{
		"a bad name":                 {"tool pre", nil, 0, `event name "tool pre"`},
		"data that is a list":        {events.ToolPre, []int{1}, 0, "emit tool:pre: data must be a JSON object, not an array"},
		"data that does not marshal": {events.ToolPre, make(chan int), 0, "emit tool:pre: json: unsupported type"},
		"a name twice":               {events.ToolPre, json.RawMessage(`{"a":1,"a":2}`), 0, `has the name "/a" twice`},
		"too deep":                   {events.ToolPre, json.RawMessage(strings.Repeat(`{"a":`, 64) + `{}` + strings.Repeat("}", 64)), 0, "nests deeper than 64 levels"},
		"a session id of a number":   {events.ToolPre, map[string]any{"session_id": 5}, 400, "data.session_id must be a string"},
		"600 KiB":                    {events.ToolPre, map[string]any{"a": strings.Repeat("x", 600<<10)}, 413, "at most 524288 are allowed"},
	} {
		t.Run(sentence, func(t *testing.T) {
			for verb, ask := range map[string]func() error{
				"emit":    func() error { _, err := a.Emit(t.Context(), c.event, c.data); return err },
				"collect": func() error { _, err := a.EmitAndCollect(t.Context(), c.event, c.data, 0); return err },
			} {
				err := ask()
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("%s: error is %v", verb, err)
				}
				if code := hookrouter.CodeOf(err); code != c.code {
					t.Errorf("%s: code is %v, want %v", verb, code, c.code)
				}
			}
		})
	}
	if _, err := a.CollectContributions(t.Context(), "a:b", 0); err == nil {
		t.Error("a channel with a colon was asked for")
	}
	if _, err := a.ListHandlers(t.Context(), "tool:**"); err == nil {
		t.Error("a bad pattern was asked for")
	}
}

func TestDefaultFields(t *testing.T) {
	t.Parallel()
	b := hooktest.Start(t)
	hook := hooktest.Script()
	b.Register(t, worker.Registration{ID: "hook", Events: toolPre}, hook.Handle)
	a := b.Agent(t, "s1")
	last := func() map[string]any {
		calls := hook.Calls()
		var d map[string]any
		if err := json.Unmarshal(calls[len(calls)-1].Data, &d); err != nil {
			t.Fatal(err)
		}
		delete(d, "timestamp")
		return d
	}
	odd := "naïve 😀 日本語 \u0000\u007f\u0080\r\n\u2028\U0010ffff %41 \\u0041 \"quoted\""
	for _, c := range []struct {
		sentence     string
		fields, data map[string]any
		want         map[string]any
	}{
		{"the session's id, of itself", nil, nil, map[string]any{"session_id": "s1"}},
		{"text beyond ASCII, in names too", map[string]any{"text": odd, odd: 1.0}, nil, map[string]any{"session_id": "s1", "text": odd, odd: 1.0}},
		{"new ones replace the old", map[string]any{"b": true}, nil, map[string]any{"session_id": "s1", "b": true}},
		{"the event's own win", map[string]any{"a": 1.0, "b": 2.0}, map[string]any{"a": nil}, map[string]any{"session_id": "s1", "a": nil, "b": 2.0}},
		{"a session id is data only", map[string]any{"session_id": "s9"}, nil, map[string]any{"session_id": "s9"}},
		{"none again", nil, nil, map[string]any{"session_id": "s1"}},
	} {
		if err := a.SetDefaultFields(c.fields); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Emit(t.Context(), events.ToolPre, c.data); err != nil {
			t.Fatalf("%s: %v", c.sentence, err)
		}
		if diff := cmp.Diff(c.want, last()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.sentence, diff)
		}
		if calls := hook.Calls(); calls[len(calls)-1].Session != "s1" {
			t.Errorf("%s: moved to session %q", c.sentence, calls[len(calls)-1].Session)
		}
		if _, err := a.EmitAndCollect(t.Context(), events.ToolPre, c.data, 0); err != nil {
			t.Fatal(err)
		}
		if got := last(); len(got) != len(c.data) {
			t.Errorf("%s: collected with %v", c.sentence, got)
		}
	}
	if err := a.SetDefaultFields(map[string]any{"f": func() {}}); err == nil || !strings.HasPrefix(err.Error(), "set default fields: ") {
		t.Errorf("error is %v", err)
	}
	if err := a.SetDefaultFields(map[string]any{"big": strings.Repeat("x", 9<<10)}); err == nil {
		if _, err = a.Emit(t.Context(), events.ToolPre, nil); err == nil {
			t.Error("9 KiB of default fields were taken")
		}
	}
}

func TestCollect(t *testing.T) {
	natstest.Bubble(t, collects)
}

func collects(t *testing.T) {
	b := hooktest.Start(t)
	w := b.Worker(t)
	release := make(chan struct{})
	defer close(release)
	for _, c := range []struct {
		id string
		do worker.Handler
	}{
		{"z", hooktest.Script(chain.Result{Data: []byte(`{"z":1}`)}).Handle},
		{"a", hooktest.Script(chain.Result{Action: chain.Deny, Data: []byte(`{}`)}).Handle},
		{"none", hooktest.Script().Handle},
		{"broken", func(context.Context, worker.Event) (worker.Result, error) {
			return worker.Result{}, errors.New("broken")
		}},
		{"silent", func(context.Context, worker.Event) (worker.Result, error) { <-release; return worker.Continue() }},
	} {
		if _, err := w.Register(t.Context(), worker.Registration{ID: c.id, Events: toolPre, OnFailure: chain.FailClosed}, c.do); err != nil {
			t.Fatal(err)
		}
	}
	got, err := b.Agent(t, "s1").EmitAndCollect(t.Context(), events.ToolPre, map[string]int{"n": 1}, 300*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	want := agent.Collection{Values: []json.RawMessage{[]byte(`{"z":1}`), []byte(`{}`)}, From: []string{"z", "a"}, Missing: []string{"broken", "silent"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("collected (-want +got):\n%s", diff)
	}
}

func TestDeadlineIsToldToTheRouter(t *testing.T) {
	natstest.Bubble(t, deadlineIsTold)
}

func deadlineIsTold(t *testing.T) {
	b := hooktest.Start(t)
	release := make(chan struct{})
	defer close(release)
	left := make(chan time.Duration, 1)
	b.Register(t, worker.Registration{ID: "hook", Events: toolPre, TimeoutMS: 30_000}, func(ctx context.Context, _ worker.Event) (worker.Result, error) {
		end, _ := ctx.Deadline()
		left <- time.Until(end)
		<-release
		return worker.Continue()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err := b.Agent(t, "s1").Emit(ctx, events.ToolPre, nil)
	var refusal *hookrouter.Error
	if !errors.As(err, &refusal) || refusal.Code != 504 || ctx.Err() != nil {
		t.Errorf("error is %v", err)
	}
	if l := <-left; l > 2*time.Second {
		t.Errorf("the hook thought it had %s", l)
	}
}

func TestPatience(t *testing.T) {
	run := func(sentence string, test func(t *testing.T, s *embedded.Server, nc *nats.Conn)) {
		t.Run(sentence, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T) {
				s := natstest.Server(t)
				test(t, s, natstest.Conn(t, s))
			})
		})
	}
	run("no router any more, no patience", func(t *testing.T, s *embedded.Server, nc *nats.Conn) {
		_, stop := routertest.Start(t, s, router.Options{})
		stop()
		a := connect(t, hookrouter.Options{Conn: nc, Patience: -1}, agent.Options{})
		began := time.Now()
		_, err := a.Emit(t.Context(), events.ToolPre, nil)
		if !errors.Is(err, hookrouter.ErrNoRouter) || !strings.Contains(err.Error(), "no router answers on hooks.emit.tool.pre: start `hook-router`") {
			t.Errorf("error is %v", err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("took %s", took)
		}
	})
	run("no router, patience that ends", func(t *testing.T, _ *embedded.Server, nc *nats.Conn) {
		a := connect(t, hookrouter.Options{Conn: nc, Patience: 200 * time.Millisecond}, agent.Options{})
		began := time.Now()
		_, err := a.Registry(t.Context())
		if !errors.Is(err, hookrouter.ErrNoRouter) {
			t.Errorf("error is %v", err)
		}
		if took := time.Since(began); took < 50*time.Millisecond || took > 5*time.Second {
			t.Errorf("took %s", took)
		}
	})
	run("no router, a context that ends", func(t *testing.T, _ *embedded.Server, nc *nats.Conn) {
		a := connect(t, hookrouter.Options{Conn: nc, Patience: time.Hour}, agent.Options{})
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if _, err := a.Emit(ctx, events.ToolPre, nil); !errors.Is(err, hookrouter.ErrNoRouter) && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v", err)
		}
	})
	run("a router that can't serve is asked again, and then that is what is said", func(t *testing.T, s *embedded.Server, nc *nats.Conn) {
		fake := unavailable(t, natstest.Conn(t, s), "hooks.emit.>", 1_000_000)
		a := connect(t, hookrouter.Options{Conn: nc, Patience: 300 * time.Millisecond}, agent.Options{})
		_, err := a.Emit(t.Context(), events.ToolPre, nil)
		var refusal *hookrouter.Error
		if !errors.As(err, &refusal) || refusal.Code != 503 || refusal.Text != "not yet" {
			t.Errorf("error is %v", err)
		}
		if n := fake(); n < 2 || n > 6 {
			t.Errorf("asked %d times", n)
		}
	})
	run("a router that can't serve at first", func(t *testing.T, s *embedded.Server, nc *nats.Conn) {
		fake := unavailable(t, natstest.Conn(t, s), "hooks.emit.>", 2)
		a := connect(t, hookrouter.Options{Conn: nc}, agent.Options{})
		if answer, err := a.Emit(t.Context(), events.ToolPre, nil); err != nil || answer.Reason != "served" {
			t.Errorf("%+v, %v", answer, err)
		}
		if n := fake(); n != 3 {
			t.Errorf("asked %d times", n)
		}
	})
	run("a router that comes", func(t *testing.T, s *embedded.Server, nc *nats.Conn) {
		a := connect(t, hookrouter.Options{Conn: nc}, agent.Options{})
		done := make(chan error, 1)
		go func() { _, err := a.Emit(t.Context(), events.ToolPre, nil); done <- err }()
		routertest.Start(t, s, router.Options{})
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	run("another refusal is final", func(t *testing.T, s *embedded.Server, nc *nats.Conn) {
		fake := unavailable(t, natstest.Conn(t, s), "other.emit.>", 0)
		a := connect(t, hookrouter.Options{Conn: nc, Prefix: "other"}, agent.Options{})
		if _, err := a.Emit(t.Context(), "no:such", nil); err == nil {
			t.Error("no error")
		}
		if n := fake(); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}

// unavailable answers like a router that can't serve the first so many requests,
// and then denies; "no:such" it refuses with 400. It returns how many it got.
func unavailable(t *testing.T, nc *nats.Conn, subject string, times int) (asked func() int) {
	t.Helper()
	var mu sync.Mutex
	n := 0
	sub, err := nc.Subscribe(subject, func(m *nats.Msg) {
		mu.Lock()
		defer mu.Unlock()
		n++
		header, body := nats.Header{"Hook-Event-Id": m.Header["ce-id"]}, []byte(`{"action":"deny","reason":"served"}`)
		if n <= times {
			header, body = nats.Header{"Nats-Service-Error-Code": {"503"}, "Nats-Service-Error": {"not yet"}}, nil
		} else if strings.HasSuffix(m.Subject, "no.such") {
			header, body = nats.Header{"Nats-Service-Error-Code": {"400"}, "Nats-Service-Error": {"never"}}, nil
		}
		natstest.Respond(m, header, body)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the server knows before the next one asks
		if err := errors.Join(sub.Unsubscribe(), nc.Flush()); err != nil {
			t.Error(err)
		}
	})
	return func() int { mu.Lock(); defer mu.Unlock(); return n }
}

func TestInspection(t *testing.T) {
	t.Parallel()
	b := hooktest.Start(t)
	w := b.Worker(t, worker.Options{Instance: "i1"})
	for _, reg := range []worker.Registration{
		{ID: "late", Name: "Later", Events: []string{"tool:*"}, Priority: 5, Version: "1.0.0"},
		{ID: "guard", Events: []string{"tool:pre", "*"}, OnFailure: chain.FailClosed, Match: "data.n > 1"},
		{ID: "beside", Events: toolPre, Mode: chain.Shadow, SessionID: "s1"},
	} {
		if _, err := w.Register(t.Context(), reg, hooktest.Script().Handle); err != nil {
			t.Fatal(err)
		}
	}
	a := b.Agent(t, "s1")
	all, err := a.ListHandlers(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]string{"*": {"guard"}, "tool:*": {"Later"}, "tool:pre": {"guard", "beside"}}, all); diff != "" {
		t.Errorf("handlers (-want +got):\n%s", diff)
	}
	some, err := a.ListHandlers(t.Context(), "tool:*")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]string{"tool:*": {"Later"}}, some); diff != "" {
		t.Errorf("handlers of one pattern (-want +got):\n%s", diff)
	}
	list, err := a.Registry(t.Context())
	if err != nil || len(list) != 3 || list[0].ID != "guard" || list[2].ID != "late" || list[2].TimeoutMS != 5000 || list[2].Instances[0].Instance != "i1" || list[2].Instances[0].Version != "1.0.0" {
		t.Errorf("registry %+v, %v", list, err)
	}
	for data, want := range map[string][]string{
		`{"n":2}`:   {"guard true ", "beside true ", "late true "},
		`{"n":1}`:   {"guard false ", "beside true ", "late true "},
		`{"n":"x"}`: {"guard false match_error", "beside true ", "late true "},
	} {
		hooks, err := a.Explain(t.Context(), events.ToolPre, json.RawMessage(data))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range hooks {
			reason := ""
			if h.MatchError != "" {
				reason = "match_error"
			}
			got = append(got, fmt.Sprint(h.ID, " ", h.Matches, " ", reason))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("explain %s (-want +got):\n%s", data, diff)
		}
	}
}

func TestAgentIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	b := hooktest.Start(t)
	hook := hooktest.Script()
	b.Register(t, worker.Registration{ID: "hook", Events: toolPre}, hook.Handle)
	a := b.Agent(t, "s1")
	const goroutines, each = 8, 25
	var wg sync.WaitGroup
	for i := range goroutines {
		wg.Go(func() {
			for n := range each {
				if err := a.SetDefaultFields(map[string]any{"i": i, "n": n}); err != nil {
					t.Error(err)
				}
				if answer, err := a.Emit(t.Context(), events.ToolPre, nil); err != nil || answer.Hooks != 1 {
					t.Errorf("%+v, %v", answer, err)
				}
				if _, err := a.ListHandlers(t.Context(), ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := len(hook.Calls()); n != goroutines*each {
		t.Errorf("%d calls", n)
	}
}
