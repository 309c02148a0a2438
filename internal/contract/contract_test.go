package contract_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/contract"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hooktest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// decodes is a hook that decodes its data into the event's type, as most do.
func decodes(_ context.Context, ev worker.Event) (worker.Result, error) {
	var d events.ToolPreData
	if err := ev.Decode(&d); err != nil {
		return worker.Result{}, err
	}
	return worker.Continue()
}

// validated is a hook, and what its validation finds.
type validated struct {
	reg    worker.Registration
	hook   worker.Handler
	failed []string // names of the checks that fail; nil for none
	says   string   // stands in the detail of the first
}

func (c validated) check(t *testing.T, b *hooktest.Bus) {
	t.Helper()
	c.reg.ID = "hook"
	b.Register(t, c.reg, c.hook)
	r := b.Validate(t, "hook")
	var failed []string
	for _, f := range r.Failed() {
		failed = append(failed, f.Name)
	}
	if slices.Equal(c.failed, []string{"everything"}) {
		if len(failed) != len(r.Checks) {
			t.Errorf("only %q failed", failed)
		}
	} else if !slices.Equal(failed, c.failed) {
		t.Errorf("failed: %q, want %q\n%s", failed, c.failed, r)
	}
	if c.failed != nil && !strings.Contains(r.Failed()[0].Detail, c.says) {
		t.Errorf("says %q", r.Failed()[0].Detail)
	}
	if r.OK != (c.failed == nil) || r.Hook != "hook" {
		t.Errorf("report says ok %v of %s", r.OK, r.Hook)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	b := hooktest.Start(t)
	toolPre := []string{events.ToolPre}
	for sentence, c := range map[string]validated{
		"may take as long as its chain": {
			worker.Registration{Events: toolPre, TimeoutMS: 30_000},
			hooktest.Script().Handle,
			[]string{"its time-out is shorter than that of its chain"},
			"it may take 30s, and the chain ends after 30s: its on_failure is never reached",
		},
		"continues always": {worker.Registration{Events: toolPre}, hooktest.Script().Handle, nil, ""},
		"denies always":    {worker.Registration{Events: toolPre}, hooktest.Script(chain.Denial("no")).Handle, nil, ""},
		"fails where data breaks the schema, as it should": {worker.Registration{Events: toolPre}, decodes, nil, ""},
		"fails on an empty object": {
			worker.Registration{Events: toolPre},
			func(_ context.Context, ev worker.Event) (worker.Result, error) {
				if string(ev.Data) == "{}" {
					return worker.Result{}, errors.New("nothing to judge")
				}
				return worker.Continue()
			},
			[]string{"an empty object"},
			"an error, for data that keeps the schema: nothing to judge (500)",
		},
		"fails on an empty object, which its match keeps from it": {
			worker.Registration{Events: toolPre, Match: "has(data.tool_name) && data.tool_name != ''"},
			func(_ context.Context, ev worker.Event) (worker.Result, error) {
				if string(ev.Data) == "{}" {
					return worker.Result{}, errors.New("nothing to judge")
				}
				return worker.Continue()
			}, nil, "",
		},
		"panics on a type it does not expect": {
			worker.Registration{Events: toolPre},
			func(_ context.Context, ev worker.Event) (worker.Result, error) {
				var d map[string]any
				if err := json.Unmarshal(ev.Data, &d); err != nil {
					return worker.Result{}, err
				}
				if name, ok := d["tool_name"]; ok && name.(string) == "" {
					return worker.Deny("no name")
				}
				return worker.Continue()
			},
			[]string{"null in place of every field", "tool_name is a number"},
			"it panicked",
		},
		"loses large integers": {
			worker.Registration{Events: toolPre},
			func(_ context.Context, ev worker.Event) (worker.Result, error) {
				var d map[string]any
				if err := json.Unmarshal(ev.Data, &d); err != nil {
					return worker.Result{}, err
				}
				return worker.Modify(d)
			},
			[]string{"64-bit integers"},
			"it made 9007199254740992 of the integer 9007199254740993",
		},
		"answers too much": {
			worker.Registration{Events: toolPre},
			hooktest.Script(chain.Injection(strings.Repeat("x", 600<<10))).Handle,
			[]string{"everything"},
			"invalid result: it has ",
		},
		"answers what is no result": {
			worker.Registration{Events: toolPre},
			hooktest.Script(worker.Result{Action: "allow"}).Handle,
			[]string{"everything"},
			"invalid result: action must be one of",
		},
		"is limited to one session": {
			worker.Registration{Events: toolPre, SessionID: "only-this"},
			func(_ context.Context, ev worker.Event) (worker.Result, error) {
				if ev.Session != "only-this" {
					return worker.Result{}, errors.New("not mine")
				}
				return worker.Continue()
			}, nil, "",
		},
		"has events of its own": {worker.Registration{Events: []string{"deploy:begin", "deploy:*"}}, hooktest.Script().Handle, nil, ""},
	} {
		t.Run(sentence, func(t *testing.T) { c.check(t, b) })
	}
}

func TestValidateAHookThatIsSlow(t *testing.T) {
	toolPre := []string{events.ToolPre}
	for sentence, c := range map[string]validated{
		"hangs": {
			worker.Registration{Events: toolPre, TimeoutMS: 30},
			func(context.Context, worker.Event) (worker.Result, error) {
				<-time.After(300 * time.Millisecond)
				return worker.Continue()
			},
			[]string{"everything"},
			"no answer within its time-out of 30ms",
		},
		"is done when one event was hard": {
			worker.Registration{Events: toolPre, TimeoutMS: 200},
			func(ctx context.Context, ev worker.Event) (worker.Result, error) {
				if len(ev.Data) > 100_000 {
					<-ctx.Done()
					return worker.Result{}, ctx.Err()
				}
				return worker.Continue()
			},
			[]string{"a string of 256 KiB"},
			"time",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T) { c.check(t, hooktest.Start(t)) })
		})
	}
}

func TestValidateCallsEveryStandardEventThatIsRegistered(t *testing.T) {
	t.Parallel()
	b := hooktest.Start(t)
	for _, c := range []struct {
		patterns, want []string
	}{
		{[]string{"tool:*"}, []string{"tool:error", "tool:post", "tool:pre"}},
		{[]string{"error:tool", "tool:pre", "tool:error"}, []string{"tool:error", "tool:pre"}},
		{[]string{"deploy:*"}, []string{"deploy:check"}},
		{[]string{"deploy:begin", "prompt:submit"}, []string{"prompt:submit", "deploy:begin"}},
	} {
		hook := hooktest.Script()
		var modes []chain.Mode
		w := b.Worker(t)
		unregister, err := w.Register(t.Context(), worker.Registration{ID: "hook", Events: c.patterns}, func(ctx context.Context, ev worker.Event) (worker.Result, error) {
			modes = append(modes, worker.CallFrom(ctx).Mode)
			return hook.Handle(ctx, ev)
		})
		if err != nil {
			t.Fatal(err)
		}
		r := b.Validate(t, "hook")
		var got []string
		for _, call := range hook.Calls() {
			if !slices.Contains(got, call.Name) {
				got = append(got, call.Name)
			}
		}
		if !slices.Equal(got, c.want) || len(hook.Calls()) != len(r.Checks) {
			t.Errorf("%q: called for %q, %d calls, %d checks", c.patterns, got, len(hook.Calls()), len(r.Checks))
		}
		if slices.ContainsFunc(modes, func(m chain.Mode) bool { return m != chain.Shadow }) {
			t.Errorf("called in modes %q", modes)
		}
		if err := unregister(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestValidateGivesUpOnAHookThatHangs(t *testing.T) {
	natstest.Bubble(t, givesUp)
}

func givesUp(t *testing.T) {
	b := hooktest.Start(t)
	b.Register(t, worker.Registration{ID: "hook", Events: []string{"*"}, TimeoutMS: 20},
		func(context.Context, worker.Event) (worker.Result, error) {
			<-t.Context().Done()
			return worker.Result{}, nil
		})
	r := b.Validate(t, "hook")
	if len(r.Checks) != 4 || r.OK || !strings.Contains(r.Checks[3].Detail, "given up after 3 time-outs") {
		t.Errorf("report:\n%s", r)
	}
}

func TestValidateFindsAHookWithoutWorkers(t *testing.T) {
	b := hooktest.Start(t)
	durable := true
	unregister, err := b.Worker(t).Register(t.Context(), worker.Registration{ID: "hook", Events: []string{events.ToolPre}, Durable: &durable}, hooktest.Script().Handle)
	if err != nil {
		t.Fatal(err)
	}
	if err := unregister(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := b.Validate(t, "hook")
	if r.OK || len(r.Checks) != 1 || !strings.Contains(r.Checks[0].Detail, "nobody listens on hooks.call.hook") {
		t.Errorf("report:\n%s", r)
	}
}

func TestValidateLetsAnObserverBeSilent(t *testing.T) {
	natstest.Bubble(t, observes)
}

func observes(t *testing.T) {
	b := hooktest.Start(t)
	nc := b.Conn(t)
	register(t, nc, "hook", `{"events":["deploy:begin"],"mode":"observe"}`)
	if _, err := nc.Subscribe("hooks.call.hook", func(*nats.Msg) {}); err != nil {
		t.Fatal(err)
	}
	flush(t, nc)
	if r := b.Validate(t, "hook"); !r.OK {
		t.Errorf("report:\n%s", r)
	}
}

func TestValidateContributors(t *testing.T) {
	b := hooktest.Start(t)
	nc := b.Conn(t)
	register(t, nc, "hook", `{"channels":["a.b","c"]}`)
	for answer, detail := range map[string]string{
		`{"a":1}`: "a value", `null`: "nothing", ``: "nothing", `0`: "a value", `{"a":`: `what it answered is not JSON: {"a":`,
		`"` + strings.Repeat("x", 600<<10) + `"`: "it has 614402 bytes, at most 524288 are allowed",
	} {
		sub, err := nc.Subscribe("hooks.call.hook", func(m *nats.Msg) { _ = m.Respond([]byte(answer)) })
		if err != nil {
			t.Fatal(err)
		}
		flush(t, nc)
		r := b.Validate(t, "hook")
		good := detail == "a value" || detail == "nothing"
		if len(r.Checks) != 2 || r.Checks[0].Event != "a.b" || r.Checks[1].Event != "c" || r.Checks[1].Detail != detail || r.OK != good {
			t.Errorf("answered %.20s: %+v", answer, r.Checks)
		}
		if err := sub.Unsubscribe(); err != nil {
			t.Fatal(err)
		}
		flush(t, nc)
	}
	if r := b.Validate(t, "hook"); r.OK || len(r.Checks) != 1 {
		t.Errorf("without a worker:\n%s", r)
	}
}

// flush returns when the server knows what was subscribed and unsubscribed. The
// check asks on another connection, which the server may serve before this one.
func flush(t *testing.T, nc *nats.Conn) {
	t.Helper()
	if err := nc.FlushTimeout(5 * time.Second); err != nil {
		t.Fatal(err)
	}
}

// register registers a hook as a client in any language does.
func register(t *testing.T, nc *nats.Conn, id, body string) {
	t.Helper()
	reply, err := nc.Request("hooks.register."+id, []byte(body), 5*time.Second)
	if err != nil || reply.Header.Get("Nats-Service-Error") != "" {
		t.Fatalf("register: %v %v", err, reply)
	}
}

func TestValidateSaysWhyItCantCheck(t *testing.T) {
	b := hooktest.Start(t)
	nc := b.Conn(t)
	b.Register(t, worker.Registration{ID: "hook", Events: []string{events.ToolPre}}, hooktest.Script().Handle)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for sentence, c := range map[string]struct {
		ctx  context.Context
		o    contract.Options
		want string
	}{
		"no such hook":    {t.Context(), contract.Options{Conn: nc, ID: "other"}, "validate hook other: no such hook is registered"},
		"no hook id":      {t.Context(), contract.Options{Conn: nc, ID: "Not An ID"}, `hook id "Not An ID"`},
		"no connection":   {t.Context(), contract.Options{ID: "hook"}, "a connection is missing"},
		"no router there": {t.Context(), contract.Options{Conn: nc, ID: "hook", Prefix: "other"}, "no router answers on other.registry"},
		"no such prefix":  {t.Context(), contract.Options{Conn: nc, ID: "hook", Prefix: "A B"}, `prefix "A B"`},
		"no time":         {over, contract.Options{Conn: nc, ID: "hook"}, "context canceled"},
	} {
		t.Run(sentence, func(t *testing.T) {
			r, err := contract.Validate(c.ctx, c.o)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v", err)
			}
			if r.OK {
				t.Error("the report says ok")
			}
		})
	}
	if _, err := contract.Validate(t.Context(), contract.Options{Conn: nc, ID: "other"}); !errors.Is(err, contract.ErrUnknownHook) {
		t.Errorf("error is %v", err)
	}
}

func TestValidateStopsInTheMiddle(t *testing.T) {
	b := hooktest.Start(t)
	b.Register(t, worker.Registration{ID: "hook", Events: []string{events.ToolPre}}, hooktest.Script().Handle)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := 0
	r, err := contract.Validate(ctx, contract.Options{Conn: b.Conn(t), ID: "hook", Each: func(contract.Check) {
		if seen++; seen == 3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || r.OK || len(r.Checks) != 3 {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestReport(t *testing.T) {
	r := contract.Report{Hook: "guard", Took: 12 * time.Millisecond, Checks: []contract.Check{
		{Name: "usual data", Event: "tool:pre", OK: true, Detail: "continue", Took: 150 * time.Microsecond},
		{Name: "an empty object", Event: "tool:pre", Detail: "it panicked", Took: time.Millisecond},
		{Name: "usual data", Event: "tool:post", OK: true, Detail: "continue", Took: 100 * time.Microsecond},
		{Name: "a worker answers", Detail: "nobody"},
	}}
	want := `hook guard BREAKS the contract: 2 of 4 checks passed in 12ms
  tool:pre: 1 of 2, the slowest in 1ms
    FAILED an empty object: it panicked
  tool:post: 1 of 1, the slowest in 100µs
  the hook: 0 of 1, the slowest in 0s
    FAILED a worker answers: nobody
`
	if got := r.String(); got != want {
		t.Errorf("report:\n%s", got)
	}
	text, err := json.Marshal(r.Checks[0])
	if err != nil || string(text) != `{"name":"usual data","event":"tool:pre","ok":true,"detail":"continue","took_ns":150000}` {
		t.Errorf("%s, %v", text, err)
	}
}
