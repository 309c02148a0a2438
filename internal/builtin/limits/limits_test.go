package limits_test

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

	"github.com/hookrouter/hookrouter/internal/builtin/limits"
	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func ExampleNew() {
	hook, err := limits.New(kind.Section{}, limits.Options{
		Rules: []limits.Rule{{Per: []string{"session"}, Calls: 1, Within: "1m"}},
		Now:   func() time.Time { return noon },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		result, err := hook.Handler(context.Background(), events.Event{Name: events.ToolPre, Session: "s1", Data: json.RawMessage(`{"tool_name":"Bash"}`)})
		fmt.Println(result.Reason, err)
	}
	// Output:
	//  <nil>
	// The limit of 1 calls within 1m, for each session is reached; it frees in 1m5s, at 2026-11-21T12:01:05Z. <nil>
}

// limiter is a hook with a clock that the test sets.
type limiter struct {
	*testing.T
	kind.Hook
	now    time.Time
	states *hookstate.Memory
}

func newLimiter(t *testing.T, o limits.Options) *limiter {
	t.Helper()
	l := &limiter{T: t, now: noon, states: &hookstate.Memory{}}
	o.Now = func() time.Time { return l.now }
	var err error
	if l.Hook, err = limits.New(kind.Section{Worker: kind.Worker{States: l.states}}, o); err != nil {
		t.Fatal(err)
	}
	return l
}

func rules(list ...limits.Rule) limits.Options { return limits.Options{Rules: list} }

func (l *limiter) send(ev events.Event) chain.Result {
	l.Helper()
	result, err := l.Handler(l.Context(), ev)
	if err != nil {
		l.Fatal(err)
	}
	return result
}

// tool calls a tool in a session.
func (l *limiter) tool(session, name string) chain.Result {
	l.Helper()
	return l.send(events.Event{Name: events.ToolPre, Session: session, Source: "/agent/" + session, Data: json.RawMessage(`{"tool_name":"` + name + `","tool_input":{"command":"x"}}`)})
}

// calls makes n calls of a session, and returns how many were let pass.
func (l *limiter) calls(session, name string, n int) (passed int) {
	l.Helper()
	for range n {
		if !l.tool(session, name).Denied() {
			passed++
		}
	}
	return passed
}

// used says that the model used something.
func (l *limiter) used(session, usage string) {
	l.Helper()
	if got := l.send(events.Event{Name: events.LLMResponse, Session: session, Data: json.RawMessage(usage)}); got.Action != "" {
		l.Errorf("%s: %+v", usage, got)
	}
}

func TestNoSpanHoldsMoreCalls(t *testing.T) {
	l := newLimiter(t, rules(limits.Rule{Per: []string{"session"}, Calls: 10, Within: "1m"}))
	var passed []time.Time
	for l.now = noon.Add(59 * time.Second); l.now.Before(noon.Add(10 * time.Minute)); l.now = l.now.Add(700 * time.Millisecond) {
		if !l.tool("s1", "Bash").Denied() {
			passed = append(passed, l.now)
		}
	}
	for i := 10; i < len(passed); i++ {
		if span := passed[i].Sub(passed[i-10]); span < time.Minute {
			t.Fatalf("11 calls within %v", span)
		}
	}
	if len(passed) < 75 {
		t.Errorf("%d calls passed in nine minutes; want nearly 90", len(passed))
	}
}

func TestTheReasonSaysWhenItFrees(t *testing.T) {
	l := newLimiter(t, rules(limits.Rule{Per: []string{"session"}, Tools: []string{"shell"}, Calls: 2, Within: "1h"}))
	l.calls("s1", "Bash", 1)
	l.now = noon.Add(30 * time.Minute)
	l.calls("s1", "Bash", 1)
	got := l.tool("s1", "Bash")
	if want := "The limit of 2 calls of shell within 1h, for each session is reached; it frees in 35m0s, at 2026-11-21T13:05:00Z."; got.Reason != want {
		t.Errorf("got  %s\nwant %s", got.Reason, want)
	}
	l.now = noon.Add(65*time.Minute - time.Second)
	if l.calls("s1", "Bash", 1) != 0 {
		t.Error("it frees earlier than it said")
	}
	l.now = noon.Add(65 * time.Minute)
	if l.calls("s1", "Bash", 3) != 1 {
		t.Error("it does not free when it said")
	}
}

func TestCallsAreCountedPerKey(t *testing.T) {
	for name, c := range map[string]struct {
		rule                              limits.Rule
		otherSession, otherTool, otherCls int // calls that pass after one of s1's Bash
	}{
		"each session":        {limits.Rule{Per: []string{"session"}, Calls: 1}, 1, 0, 0},
		"each agent":          {limits.Rule{Per: []string{"agent"}, Calls: 1, Within: "1m"}, 1, 0, 0},
		"each tool":           {limits.Rule{Per: []string{"tool"}, Calls: 1, Within: "1m"}, 0, 1, 1},
		"each class":          {limits.Rule{Per: []string{"class"}, Calls: 1, Within: "1m"}, 0, 0, 1},
		"session and tool":    {limits.Rule{Per: []string{"session", "tool"}, Calls: 1}, 1, 1, 1},
		"all together":        {limits.Rule{Calls: 1, Within: "1m"}, 0, 0, 0},
		"a class only":        {limits.Rule{Per: []string{"session"}, Tools: []string{"SHELL"}, Calls: 1}, 1, 0, 1},
		"a tool only":         {limits.Rule{Per: []string{"session"}, Tools: []string{"bas?"}, Calls: 1}, 1, 1, 1},
		"none that is called": {limits.Rule{Per: []string{"session"}, Tools: []string{"mcp"}, Calls: 1}, 1, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			try := func(session, tool string) int {
				l := newLimiter(t, rules(c.rule))
				l.calls("s1", "Bash", 1)
				return l.calls(session, tool, 1)
			}
			if a, b, d := try("s2", "Bash"), try("s1", "run_shell_command"), try("s1", "WebFetch"); a != c.otherSession || b != c.otherTool || d != c.otherCls {
				t.Errorf("passed: another session %d, another tool %d, another class %d; want %d %d %d", a, b, d, c.otherSession, c.otherTool, c.otherCls)
			}
		})
	}
}

func TestTokensAndCostStopWhatComesNext(t *testing.T) {
	for name, c := range map[string]struct {
		rule  limits.Rule
		usage string
		uses  int // until the limit
	}{
		"Anthropic":      {limits.Rule{Tokens: 100}, `{"usage":{"input_tokens":10,"output_tokens":15,"cache_read_input_tokens":25}}`, 2},
		"OpenAI":         {limits.Rule{Tokens: 100}, `{"response":{"usage":{"prompt_tokens":10,"completion_tokens":40,"total_tokens":50}}}`, 2},
		"Gemini":         {limits.Rule{Tokens: 100}, `{"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":40,"totalTokenCount":50}}`, 2},
		"Amplifier":      {limits.Rule{Tokens: 100}, `{"usage":{"input":10,"output":40}}`, 2},
		"cost":           {limits.Rule{Cost: 1}, `{"usage":{"input_tokens":10,"cost":0.5}}`, 2},
		"cost beside it": {limits.Rule{Cost: 1}, `{"total_cost_usd":0.5}`, 2},
		"prices":         {limits.Rule{Cost: 1}, `{"usage":{"input_tokens":100000,"output_tokens":10000}}`, 2},
		"a lot":          {limits.Rule{Tokens: 1e15}, `{"usage":{"total_tokens":1e300}}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c.rule.Per = []string{"session"}
			o := rules(c.rule)
			o.Prices = limits.Prices{Input: 3.5, Output: 15}
			l := newLimiter(t, o)
			for i := range c.uses {
				if l.tool("s1", "Bash").Denied() {
					t.Fatalf("denied after %d uses", i)
				}
				l.used("s1", c.usage)
			}
			if c.uses == 0 {
				l.used("s1", c.usage)
				return
			}
			for _, event := range []string{events.ToolPre, events.PromptSubmit, events.LLMRequest} {
				got := l.send(events.Event{Name: event, Session: "s1", Data: json.RawMessage(`{"tool_name":"Bash","prompt":"go on"}`)})
				if !got.Denied() || !strings.HasSuffix(got.Reason, "is reached; it frees when the session ends.") {
					t.Errorf("%s: %+v", event, got)
				}
			}
			l.used("s1", c.usage) // is counted, and not denied: it is past
		})
	}
}

func TestNobodyGetsBackWhatHeUsed(t *testing.T) {
	l := newLimiter(t, rules(limits.Rule{Per: []string{"session"}, Tokens: 100}))
	l.used("s1", `{"usage":{"input_tokens":100,"cache_read_input_tokens":-100}}`)
	l.used("s1", `{"usage":{"input_tokens":-1000,"total_tokens":-1000,"cost":-5}}`)
	if !l.tool("s1", "Bash").Denied() {
		t.Error("a negative number gives tokens back")
	}
}

func FuzzHandler(f *testing.F) {
	f.Add("llm:response", `{"usage":{"input_tokens":1e300,"cost":1e300},"response":{"usage":7}}`)
	f.Add("llm:response", `{"cost":1.7e308}`)
	f.Add("tool:pre", `{"tool_name":7,"tool_input":"x"}`)
	f.Fuzz(func(t *testing.T, event, data string) {
		if _, err := events.ParseObject([]byte(data)); err != nil || event == events.SessionEnd {
			t.Skip()
		}
		l := newLimiter(t, rules(limits.Rule{Per: []string{"session"}, Calls: 9, Tokens: 100, Cost: 100}))
		l.used("s1", `{"usage":{"total_tokens":100}}`)
		for range 3 { // what is used again and again adds up without end
			l.send(events.Event{Name: event, Session: "s1", Data: json.RawMessage(data)})
		}
		if !l.tool("s1", "Bash").Denied() {
			t.Errorf("%s %s gives back what was used", event, data)
		}
	})
}

func TestALimitMayAsk(t *testing.T) {
	l := newLimiter(t, rules(limits.Rule{Per: []string{"session"}, Calls: 1, Within: "1m", Then: "ask"}))
	l.calls("s1", "Bash", 1)
	first := l.tool("s1", "Bash")
	l.now = l.now.Add(time.Second)
	second := l.tool("s1", "Bash")
	if first.Action != chain.AskUser || first.ApprovalPrompt != second.ApprovalPrompt || len(first.ApprovalOptions) != 3 {
		t.Errorf("%+v, then %+v; want the same approval request, so that it is answered for the session", first, second)
	}
	strict := newLimiter(t, rules(limits.Rule{Per: []string{"session"}, Calls: 1, Then: "ask"}, limits.Rule{Calls: 1, Within: "1m"}))
	strict.calls("s1", "Bash", 1)
	if got := strict.tool("s1", "Bash"); !got.Denied() {
		t.Errorf("one rule asks and one denies, and the answer is %+v", got)
	}
}

func TestTheEndOfASessionFreesItsCounts(t *testing.T) {
	l := newLimiter(t, rules(limits.Rule{Per: []string{"session"}, Calls: 1}, limits.Rule{Per: []string{"session", "tool"}, Calls: 1, Within: "1m"}))
	l.calls("s1", "Bash", 5)
	if l.send(events.Event{Name: events.SessionEnd, Session: "s1", Data: json.RawMessage(`{}`)}); l.states.Len() != 0 {
		t.Errorf("%d states are left", l.states.Len())
	}
	if l.calls("s1", "Bash", 1) != 1 {
		t.Error("the next session of this name is stopped")
	}
}

func TestEventsWithoutASessionCountAsOne(t *testing.T) {
	l := newLimiter(t, rules(limits.Rule{Per: []string{"session"}, Calls: 1}))
	if l.calls("", "Bash", 3) != 1 {
		t.Error("who names no session has no limit")
	}
}

func TestTheStateOfASessionIsBounded(t *testing.T) {
	l := newLimiter(t, rules(limits.Rule{Per: []string{"session", "tool"}, Calls: 100, Within: "1m"}))
	for i := range 400 {
		l.calls("s1", fmt.Sprintf("tool%d", i%150), 1)
		l.now = l.now.Add(time.Second / 20)
	}
	if l.calls("s1", "tool140", 1) != 0 {
		t.Error("those beyond the bound have no limit")
	}
	if err := l.states.Under(t.Context(), "limits", func(_ string, value []byte) bool {
		if len(value) > hookstate.MaxValue {
			t.Errorf("%d bytes", len(value))
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
}

func TestReplicasCountTogether(t *testing.T) {
	states := &hookstate.Memory{}
	var passed atomic.Int32
	var all sync.WaitGroup
	for range 4 {
		hook, err := limits.New(kind.Section{Worker: kind.Worker{States: states}}, rules(limits.Rule{Per: []string{"session"}, Calls: 50, Within: "1h"}))
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			for range 25 {
				got, err := hook.Handler(t.Context(), events.Event{Name: events.ToolPre, Session: "s1", Data: json.RawMessage(`{"tool_name":"Bash"}`)})
				if err != nil {
					t.Error(err)
				}
				if !got.Denied() {
					passed.Add(1)
				}
			}
		})
	}
	if all.Wait(); passed.Load() != 50 {
		t.Errorf("%d calls passed; want 50", passed.Load())
	}
}

// ahead is a store whose clock differs from that of the machine.
type ahead struct{ *hookstate.Memory }

func (ahead) Now(context.Context) (time.Time, error) { return noon, nil }

func TestTheTimeIsThatOfTheStore(t *testing.T) {
	hook, err := limits.New(kind.Section{Worker: kind.Worker{States: ahead{&hookstate.Memory{}}}}, rules(limits.Rule{Per: []string{"session"}, Calls: 1, Within: "1m"}))
	if err != nil {
		t.Fatal(err)
	}
	ev := events.Event{Name: events.ToolPre, Session: "s1", Data: json.RawMessage(`{"tool_name":"Bash"}`)}
	for _, want := range []string{"", "The limit of 1 calls within 1m, for each session is reached; it frees in 1m5s, at 2026-11-21T12:01:05Z."} {
		if got, err := hook.Handler(t.Context(), ev); err != nil || got.Reason != want {
			t.Errorf("%q, %v; want %q", got.Reason, err, want)
		}
	}
}

func TestTheDefaultsLimitASession(t *testing.T) {
	l := newLimiter(t, limits.Options{})
	if got := l.calls("s1", "Bash", 130); got != 120 {
		t.Errorf("%d calls passed within a minute; want 120", got)
	}
}

// away is a store that can't be reached.
type away struct{ hookstate.Store }

func (away) Update(context.Context, string, hookstate.Change) error { return errors.New("away") }

// timeless is a store that can't tell the time.
type timeless struct{ *hookstate.Memory }

func (timeless) Now(context.Context) (time.Time, error) { return time.Time{}, errors.New("away") }

func TestAStoreThatIsAway(t *testing.T) {
	for _, store := range []hookstate.Store{away{&hookstate.Memory{}}, timeless{&hookstate.Memory{}}} {
		hook, err := limits.New(kind.Section{Worker: kind.Worker{States: store}}, limits.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := hook.Handler(t.Context(), events.Event{Name: events.ToolPre, Session: "s1", Data: json.RawMessage(`{"tool_name":"Bash"}`)}); err == nil {
			t.Error("a call that can't be counted passes")
		}
		if _, err := hook.Handler(t.Context(), events.Event{Name: events.SessionEnd, Session: "s1"}); err != nil {
			t.Errorf("the end of a session is denied: %v", err)
		}
	}
	if limits.Builtin.Registration.OnFailure != chain.FailClosed {
		t.Error("the guard fails open")
	}
}

func TestBadOptionsAreRefused(t *testing.T) {
	session := []string{"session"}
	for want, o := range map[string]limits.Options{
		"/rules/0/per/0":                    rules(limits.Rule{Per: []string{"moon"}, Calls: 1}),
		"/rules/0/tools/1":                  rules(limits.Rule{Per: session, Tools: []string{"a", ""}, Calls: 1}),
		"/rules/0/then":                     rules(limits.Rule{Per: session, Calls: 1, Then: "shout"}),
		"/rules/1/within":                   rules(limits.Rule{Per: session, Calls: 1}, limits.Rule{Calls: 1, Within: "48h"}),
		"/rules/0: a":                       rules(limits.Rule{Per: session, Calls: -1}),
		"/rules/0: the rule limits nothing": rules(limits.Rule{Per: session}),
		"/rules/0: tokens":                  rules(limits.Rule{Per: []string{"session", "tool"}, Tokens: 1}),
		"/rules/0: the limit never frees":   rules(limits.Rule{Calls: 1}),
		"/rules: at most":                   {Rules: make([]limits.Rule, 17)},
		"/rules/0/per: a session":           rules(limits.Rule{Per: []string{"session", "tree"}, Calls: 1}),
		"/rules/0: the limit never":         rules(limits.Rule{Per: []string{"identity"}, Calls: 1}),
		"/prices":                           {Prices: limits.Prices{Input: -1}},
	} {
		if _, err := limits.New(kind.Section{}, o); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("New = %v; want an error at %s", err, want)
		}
	}
}

// by calls a tool for who is proven to send, in a session below a root.
func (l *limiter) by(emitter, session, root string) chain.Result {
	l.Helper()
	ev := events.Event{Name: events.ToolPre, Session: session, Source: "/agent/" + session, Data: json.RawMessage(`{"tool_name":"Bash"}`)}
	return l.send(ev.WithAttr(events.AttrEmitter, emitter).WithAttr(events.AttrRoot, root))
}

// No new session, source or claim of another parent gives an identity more calls.
func TestNothingEscapesTheLimitOfAnIdentity(t *testing.T) {
	t.Parallel()
	l := newLimiter(t, rules(limits.Rule{Per: []string{"identity"}, Calls: 3, Within: "1h"}))
	passed := 0
	for i := range 30 {
		session := fmt.Sprint("s", i)
		if !l.by("nats agent/coder", session, fmt.Sprint("r", i)).Denied() {
			passed++
		}
		l.send(events.Event{Name: events.SessionEnd, Session: session, Data: json.RawMessage(`{}`)}.WithAttr(events.AttrEmitter, "nats agent/coder"))
	}
	if passed != 3 || l.states.Len() != 1 {
		t.Errorf("%d calls passed, %d states; want 3, and one", passed, l.states.Len())
	}
	if l.by("nats agent/rival", "s1", "").Denied() {
		t.Error("another identity is stopped")
	}
	if l.calls("a", "Bash", 3)+l.calls("b", "Bash", 3) != 3 {
		t.Error("who is not proven has a limit for each session")
	}
}

func TestSubAgentsShareTheLimitOfTheirTree(t *testing.T) {
	t.Parallel()
	l := newLimiter(t, rules(limits.Rule{Per: []string{"tree"}, Calls: 4}))
	const coder = "nats agent/coder"
	for _, at := range [][2]string{{"root", ""}, {"child", "root"}, {"other", "root"}, {"grandchild", "root"}} {
		if got := l.by(coder, at[0], at[1]); got.Denied() {
			t.Fatalf("%s: %+v", at[0], got)
		}
	}
	end := func(emitter, session, root string) {
		l.send(events.Event{Name: events.SessionEnd, Session: session, Data: json.RawMessage(`{}`)}.WithAttr(events.AttrEmitter, emitter).WithAttr(events.AttrRoot, root))
	}
	end(coder, "child", "root")
	end("nats agent/rival", "root", "")
	for _, at := range [][2]string{{"root", ""}, {"new", "root"}} {
		if got := l.by(coder, at[0], at[1]); !got.Denied() || !strings.Contains(got.Reason, "for each tree is reached; it frees when the session at the root ends.") {
			t.Errorf("%s: %+v", at[0], got)
		}
	}
	if l.by(coder, "elsewhere", "").Denied() || l.by("nats agent/rival", "root", "").Denied() {
		t.Error("another tree is stopped")
	}
	if end(coder, "root", ""); l.by(coder, "child", "root").Denied() {
		t.Error("the end of the root frees nothing")
	}
}

// Agents that choose the same session id have counts of their own, and end their own only.
func TestAnotherAgentUsesUpNothing(t *testing.T) {
	l := newLimiter(t, rules(limits.Rule{Per: []string{"session"}, Calls: 2}))
	send := func(emitter, event string) chain.Result {
		ev := events.Event{Name: event, Session: "s1", Data: json.RawMessage(`{"tool_name":"Bash"}`)}
		return l.send(ev.WithAttr(events.AttrEmitter, emitter))
	}
	for range 3 {
		send("nats agent/rival", events.ToolPre)
	}
	for range 2 {
		if got := send("nats agent/coder", events.ToolPre); got.Denied() {
			t.Errorf("%+v; want that another agent's calls do not count", got)
		}
	}
	send("nats agent/rival", events.SessionEnd)
	if got := send("nats agent/coder", events.ToolPre); !got.Denied() {
		t.Errorf("%+v; want that another agent's end frees nothing", got)
	}
}

// A denied call counts nowhere: whoever reached a limit of their own uses up nothing that others
// share, and a shared limit uses up nobody's own.
func TestADeniedCallCountsForNoOtherLimit(t *testing.T) {
	t.Parallel()
	for range 10 {
		l := newLimiter(t, rules(
			limits.Rule{Per: []string{"class"}, Calls: 6, Within: "1h"},
			limits.Rule{Per: []string{"identity"}, Calls: 4, Within: "2h"},
		))
		passed := func(emitter string, n int) (passed int) {
			for range n {
				if !l.by(emitter, "s1", "").Denied() {
					passed++
				}
			}
			return passed
		}
		if rival, coder := passed("nats agent/rival", 20), passed("nats agent/coder", 5); rival != 4 || coder != 2 {
			t.Fatalf("%d and %d calls passed; want 4 of their own, and the other 2 of the 6 that they share", rival, coder)
		}
		l.now = noon.Add(70 * time.Minute) // the shared limit frees, not their own
		if got := passed("nats agent/coder", 5); got != 2 {
			t.Fatalf("then %d passed; want the 2 that no denied call used up", got)
		}
	}
}

// shared is a store that other hooks share.
type shared struct{ *hookstate.Memory }

// Each new source or tool has a count of its own in the store: one agent does not fill it for all.
func TestOneAgentDoesNotFillTheStore(t *testing.T) {
	t.Parallel()
	states := shared{&hookstate.Memory{}}
	hook, err := limits.New(kind.Section{Worker: kind.Worker{States: states}}, rules(limits.Rule{Per: []string{"agent", "tool"}, Calls: 9, Within: "1h"}))
	if err != nil {
		t.Fatal(err)
	}
	call := func(emitter, source string) error {
		ev := events.Event{Name: events.ToolPre, Session: "s1", Source: source, Data: json.RawMessage(`{"tool_name":"Bash"}`)}
		_, err := hook.Handler(t.Context(), ev.WithAttr(events.AttrEmitter, emitter))
		return err
	}
	for i := range hookstate.MaxNew + 100 {
		err = call("nats agent/rival", fmt.Sprint("/agent/", i))
	}
	if err == nil || states.Len() != hookstate.MaxNew {
		t.Errorf("%d states, %v; want %d, and an error", states.Len(), err, hookstate.MaxNew)
	}
	if err := call("nats agent/coder", "/agent/coder"); err != nil {
		t.Errorf("another agent: %v", err)
	}
}
