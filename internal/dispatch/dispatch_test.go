package dispatch_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func reg(id string, priority int) chain.Registration {
	return chain.Registration{ID: id, Priority: priority, Events: []string{events.ToolPre}}
}

// What is called, recorded, answered and published for an emit, in this order.
func TestEmit(t *testing.T) {
	observing := reg("watcher", 0)
	observing.Mode = chain.Observe
	closed := reg("guard", 10)
	closed.OnFailure = chain.FailClosed
	for name, test := range map[string]struct {
		hooks    []hook
		want     string // the answer's body
		deniedBy string
		happened []string
	}{
		"no hook": {
			nil, `{"action":"continue","data":{"n":1}}`, "",
			[]string{"event", "recorded", "answer", "result", "counted"},
		},
		"in the order of their priority": {
			[]hook{{Registration: reg("b", 20)}, {Registration: reg("a", 10)}},
			`{"action":"continue","data":{"n":1}}`, "",
			[]string{"event", `enforce a {"n":1}`, `enforce b {"n":1}`, "recorded", "answer", "result", "counted"},
		},
		"a denial ends the chain": {
			[]hook{{Registration: reg("a", 10), reply: `{"action":"deny","reason":"no"}`}, {Registration: reg("b", 20)}},
			`{"action":"deny","reason":"no"}`, "a",
			[]string{"event", `enforce a {"n":1}`, "recorded", "answer", "result", "counted"},
		},
		"modified data flows to the next hook, and to observers": {
			[]hook{{Registration: observing}, {Registration: reg("a", 10), reply: `{"action":"modify","data":{"n":2}}`}, {Registration: reg("b", 20)}},
			`{"action":"continue","data":{"n":2}}`, "",
			[]string{"event", `enforce a {"n":1}`, `enforce b {"n":2}`, "recorded", "answer", "result", `notify watcher {"n":2}`, "counted"},
		},
		"a hook that fails is passed over": {
			[]hook{{Registration: reg("a", 10), err: errAway}, {Registration: reg("b", 20)}},
			`{"action":"continue","data":{"n":1}}`, "",
			[]string{"event", `enforce a {"n":1}`, `enforce b {"n":1}`, "recorded", "answer", "result", "counted"},
		},
		"a guard that fails denies": {
			[]hook{{Registration: closed, err: errAway}, {Registration: reg("b", 20)}},
			`{"action":"deny","reason":"hook \"guard\" failed (error) and its on_failure is deny"}`, "guard",
			[]string{"event", `enforce guard {"n":1}`, "recorded", "answer", "result", "counted"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, dispatch.Options{}, test.hooks...)
			answer, err := b.Emit(t.Context(), request(t, events.ToolPre, `{"n":1}`))
			if err != nil {
				t.Fatal(err)
			}
			b.deps.note("answer")
			answer.Sent(nil)
			if got := withoutTimestamp(string(answer.Body)); got != test.want || answer.DeniedBy != test.deniedBy {
				t.Errorf("answer %s denied by %q, want %s by %q", got, answer.DeniedBy, test.want, test.deniedBy)
			}
			happened := b.deps.happened()
			for i := range happened {
				happened[i] = withoutTimestamp(happened[i])
			}
			if diff := cmp.Diff(test.happened, happened); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// withoutTimestamp takes out the default field that hooks get.
func withoutTimestamp(text string) string {
	at := strings.Index(text, `,"timestamp":"`)
	if at < 0 {
		return text
	}
	end := strings.IndexByte(text[at+len(`,"timestamp":"`):], '"')
	return text[:at] + text[at+len(`,"timestamp":"`)+end+1:]
}

// What the log does not take is not answered, and a record says so.
func TestNoAnswerWithoutItsRecords(t *testing.T) {
	b := newBench(t, dispatch.Options{MaxPerSession: 1}, hook{Registration: reg("a", 10)})
	b.deps.logErr = wire.Errorf(wire.Unavailable, "the log is away")
	for range 2 { // the slot of the session is free again
		if _, err := b.Emit(t.Context(), request(t, events.ToolPre, `{"session_id":"s1"}`)); wire.CodeOf(err) != wire.Unavailable {
			t.Fatalf("error %v, want 503", err)
		}
	}
	records := b.deps.records(t)
	if len(records) != 2 || records[0]["kind"] != "chain.refused" {
		t.Errorf("records %v, want chain.refused twice", records)
	}
	if last := b.deps.chains[0]; last.Refused != wire.Unavailable {
		t.Errorf("counted as refused with %d, want 503", last.Refused)
	}
}

func TestAdmission(t *testing.T) {
	t.Run("a stale table answers 503", func(t *testing.T) {
		b := newBench(t, dispatch.Options{})
		b.deps.tableErr = wire.Errorf(wire.Unavailable, "stale")
		for _, do := range []func() error{
			func() error { _, err := b.Emit(t.Context(), request(t, events.ToolPre, `{}`)); return err },
			func() error { _, err := b.Execute(t.Context(), request(t, events.ToolPre, `{}`)); return err },
			func() error { _, err := b.Collect(t.Context(), request(t, events.ToolPre, `{}`)); return err },
			func() error { _, err := b.Contributions(t.Context(), "tips", dispatch.Request{}); return err },
		} {
			if err := do(); wire.CodeOf(err) != wire.Unavailable {
				t.Errorf("error %v, want 503", err)
			}
		}
	})
	t.Run("data that is too large answers 413", func(t *testing.T) {
		b := newBench(t, dispatch.Options{MaxData: 10})
		if _, err := b.Emit(t.Context(), request(t, events.ToolPre, `{"n":12345}`)); wire.CodeOf(err) != wire.TooLarge {
			t.Errorf("error %v, want 413", err)
		}
	})
	t.Run("attributes that are too large answer 413", func(t *testing.T) {
		b := newBench(t, dispatch.Options{}, hook{Registration: reg("a", 10)})
		for name, change := range map[string]func(*dispatch.Request){
			"id":        func(r *dispatch.Request) { r.Event.ID = strings.Repeat(`"`, 20<<10) },
			"source":    func(r *dispatch.Request) { r.Event.Source = strings.Repeat("x", 20<<10) },
			"extension": func(r *dispatch.Request) { r.Event.Extensions = map[string]string{"a": strings.Repeat("x", 20<<10)} },
			"turn":      func(r *dispatch.Request) { r.Turn = strings.Repeat("x", 20<<10) },
			"in sum":    func(r *dispatch.Request) { r.Event.ID, r.Turn = strings.Repeat("x", 9<<10), strings.Repeat("x", 9<<10) },
		} {
			req := request(t, events.ToolPre, `{}`)
			change(&req)
			if _, err := b.Emit(t.Context(), req); wire.CodeOf(err) != wire.TooLarge {
				t.Errorf("%s: error %v, want 413", name, err)
			}
		}
	})
	t.Run("a call that NATS does not take decides nothing", func(t *testing.T) {
		b := newBench(t, dispatch.Options{}, hook{Registration: reg("a", 10), err: fmt.Errorf("%w: x", dispatch.ErrCallTooLarge)})
		if _, err := b.Execute(t.Context(), request(t, events.ToolPre, `{}`)); wire.CodeOf(err) != wire.TooLarge {
			t.Errorf("error %v, want 413", err)
		}
	})
	t.Run("a session has so many requests under way", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, dispatch.Options{MaxPerSession: 1}, hook{Registration: reg("slow", 10), block: true})
			done := make(chan error, 1)
			go func() {
				_, err := b.Emit(t.Context(), request(t, events.ToolPre, `{"session_id":"s1"}`))
				done <- err
			}()
			synctest.Wait() // until the hook is called
			if _, err := b.Emit(t.Context(), request(t, events.ToolPre, `{"session_id":"s1"}`)); wire.CodeOf(err) != wire.Overloaded {
				t.Errorf("error %v, want 429", err)
			}
			if err := <-done; err != nil {
				t.Errorf("the first one: %v", err)
			}
			if _, err := b.Emit(t.Context(), request(t, events.ToolPre, `{"session_id":"s1"}`)); err != nil {
				t.Errorf("once it is done: %v", err)
			}
		})
	})
}

// A chain that runs out of time decides nothing; what its hooks said is recorded.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, dispatch.Options{}, hook{Registration: reg("quick", 10)}, hook{Registration: reg("slow", 20), block: true})
		req := request(t, events.ToolPre, `{}`)
		req.Timeout = time.Second
		start := time.Now()
		_, err := b.Execute(t.Context(), req)
		if wire.CodeOf(err) != wire.Deadline || time.Since(start) != time.Second {
			t.Errorf("error %v after %v, want 504 after 1 s", err, time.Since(start))
		}
		records := b.deps.records(t)
		if last := records[len(records)-1]; last["kind"] != "chain.result" || last["action"] != "deadline" {
			t.Errorf("last record %v, want the chain's, with action deadline", last)
		}
	})
}

// A router that is cut off decides nothing: its trouble is no failure of a hook, which on_failure
// could pass over.
func TestNoVerdictWithoutAConnection(t *testing.T) {
	for _, effect := range []chain.Effect{"", chain.Validates} {
		lost := reg("lost", 10)
		lost.Effect = effect
		b := newBench(t, dispatch.Options{}, hook{Registration: lost, err: fmt.Errorf("call: %w", dispatch.ErrConnection)}, hook{Registration: reg("next", 20)})
		if answer, err := b.Emit(t.Context(), request(t, events.ToolPre, `{}`)); wire.CodeOf(err) != wire.Unavailable {
			t.Errorf("effect %q: answer %+v, error %v; want 503", effect, answer, err)
		}
		if slices.Contains(b.deps.happened(), "enforce next {}") {
			t.Errorf("effect %q: the next hook is called", effect)
		}
	}
}

// What a concurrent call meets counts only if the hook would be called one by one.
func TestADenialComesBeforeALaterHooksLostConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, cause := range []error{dispatch.ErrConnection, dispatch.ErrCallTooLarge} {
			first, lost := reg("first", 10), reg("lost", 20)
			first.Effect, lost.Effect = chain.Validates, chain.Validates
			b := newBench(t, dispatch.Options{}, hook{Registration: first, reply: `{"action":"deny","reason":"no"}`, takes: time.Second}, hook{Registration: lost, err: cause})
			answer, err := b.Emit(t.Context(), request(t, events.ToolPre, `{}`))
			if err != nil || answer.DeniedBy != "first" {
				t.Errorf("%v: answer %+v, error %v; want a denial", cause, answer, err)
			}
		}
	})
}

func TestExecuteAsksAPerson(t *testing.T) {
	asking := hook{Registration: reg("ask", 10), reply: `{"action":"ask_user","approval_prompt":"sure?"}`}
	const data = `{"n":1,"session_id":"s1"}`
	t.Run("records first, then asks, then waits", func(t *testing.T) {
		b := newBench(t, dispatch.Options{}, asking)
		b.deps.decision = &approval.Decision{Option: "Allow", Granted: true, DecidedBy: "ann"}
		answer, err := b.Execute(t.Context(), request(t, events.ToolPre, data))
		if err != nil || !answer.Pending() {
			t.Fatalf("answer %+v, %v: want one that waits", answer, err)
		}
		var body string
		answer.Await(func(b []byte) { body = string(b) })
		answer.Sent(nil)
		if !strings.Contains(body, `"action":"continue"`) || !strings.Contains(body, `"decided_by":"ann"`) {
			t.Errorf("verdict %s, want ann's permission", body)
		}
		happened := strings.Join(b.deps.happened(), "\n")
		if r, a := strings.Index(happened, "recorded"), strings.Index(happened, "ask sure?"); r < 0 || a < r {
			t.Errorf("asked before the records were written:\n%s", happened)
		}
	})
	t.Run("a record says that nobody could be asked", func(t *testing.T) {
		b := newBench(t, dispatch.Options{}, asking)
		b.deps.epochErr = wire.Errorf(wire.Unavailable, "the sessions are away")
		if answer, err := b.Execute(t.Context(), request(t, events.ToolPre, data)); wire.CodeOf(err) != wire.Unavailable {
			t.Fatalf("answer %+v, %v; want 503", answer, err)
		}
		records := b.deps.records(t)
		if last := records[len(records)-1]; last["kind"] != "chain.refused" || last["action"] != "unavailable" {
			t.Errorf("the last record is %v, want chain.refused", last)
		}
	})
	t.Run("the time is that of the approvals", func(t *testing.T) {
		b := newBench(t, dispatch.Options{}, asking)
		b.deps.ahead = time.Hour
		req := request(t, events.ToolPre, data)
		if answer, err := b.Execute(t.Context(), req); err != nil || !answer.Pending() {
			t.Fatalf("answer %+v, %v: want one that waits", answer, err)
		}
		for _, s := range b.deps.asked {
			if from := s.Created.Sub(b.deps.Now()); from < -time.Minute || from > 0 {
				t.Errorf("it was asked at %v, and it is %v", s.Created, b.deps.Now())
			}
		}
		b.deps.decision = &approval.Decision{Option: "Allow", Granted: true, DecidedBy: "ann", Decided: approval.At(b.deps.Now())}
		b.deps.ahead += 10 * time.Minute
		if answer, err := b.Execute(t.Context(), req); wire.CodeOf(err) != wire.Gone {
			t.Errorf("ten minutes after it was allowed: answer %+v, %v; want 410", answer, err)
		}
	})
	t.Run("nobody to ask denies", func(t *testing.T) {
		b := newBench(t, dispatch.Options{NoApprovals: true}, asking)
		answer, err := b.Execute(t.Context(), request(t, events.ToolPre, data))
		if err != nil || answer.Pending() || !strings.Contains(string(answer.Body), `"action":"deny"`) {
			t.Errorf("answer %+v, %v: want a denial at once", answer, err)
		}
	})
	t.Run("an earlier grant answers", func(t *testing.T) {
		b := newBench(t, dispatch.Options{}, asking)
		b.deps.grants["s1/ask/sure?"] = "earlier"
		answer, err := b.Execute(t.Context(), request(t, events.ToolPre, data))
		if err != nil || answer.Pending() || !strings.Contains(string(answer.Body), `"cached":true`) {
			t.Errorf("answer %+v, %v: want the grant's permission", answer, err)
		}
	})
	t.Run("a rule that denies overrides a grant", func(t *testing.T) {
		b := newBench(t, dispatch.Options{Rules: rules(t, "- hook: ask\n  decision: deny\n")}, asking)
		b.deps.grants["s1/ask/sure?"] = "earlier"
		answer, err := b.Execute(t.Context(), request(t, events.ToolPre, data))
		if err != nil || !answer.Pending() {
			t.Fatalf("answer %+v, %v: want one that the rule decides", answer, err)
		}
		var body string
		answer.Await(func(b []byte) { body = string(b) })
		if !strings.Contains(body, `"action":"deny"`) {
			t.Errorf("verdict %s, want a denial", body)
		}
	})
	t.Run("a retry joins its request and runs no hook", func(t *testing.T) {
		b := newBench(t, dispatch.Options{}, asking)
		req := request(t, events.ToolPre, data)
		if _, err := b.Execute(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		before := len(b.deps.happened())
		req.Retry = true
		answer, err := b.Execute(t.Context(), req)
		if err != nil || !answer.Pending() {
			t.Fatalf("answer %+v, %v: want one that waits", answer, err)
		}
		if after := b.deps.happened(); len(after) != before {
			t.Errorf("the retry did %v, want nothing", after[before:])
		}
		other := req
		other.Event.Data = []byte(`{"n":2,"session_id":"s1"}`)
		if _, err := b.Execute(t.Context(), other); wire.CodeOf(err) != wire.Conflict {
			t.Errorf("other data: error %v, want 409", err)
		}
	})
}

func rules(t *testing.T, text string) approval.Rules {
	t.Helper()
	list, err := approval.ParseRules("rules.yaml", []byte("rules:\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Collected calls have durations of their own.
func TestCollect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, dispatch.Options{},
			hook{Registration: reg("a", 10), reply: `{"action":"modify","data":{"a":1}}`},
			hook{Registration: reg("slow", 20), block: true},
			hook{Registration: reg("b", 30), reply: `{"action":"deny","data":{"b":2}}`})
		answer, err := b.Collect(t.Context(), request(t, events.ToolPre, `{"n":1}`))
		if err != nil {
			t.Fatal(err)
		}
		answer.Sent(nil)
		if string(answer.Body) != `[{"a":1},{"b":2}]` || !cmp.Equal(answer.From, []string{"a", "b"}) || !cmp.Equal(answer.Missing, []string{"slow"}) {
			t.Errorf("answer %s from %v, missing %v", answer.Body, answer.From, answer.Missing)
		}
		for _, record := range b.deps.records(t) {
			if record["hook"] == "slow" && record["us"] != float64(1_000_000) {
				t.Errorf("the slow call took %v us, want 1000000", record["us"])
			}
		}
	})
}

func TestContributions(t *testing.T) {
	channel := func(id string) chain.Registration { return chain.Registration{ID: id, Channels: []string{"tips"}} }
	b := newBench(t, dispatch.Options{},
		hook{Registration: channel("a"), reply: `"one"`}, hook{Registration: channel("none"), reply: `null`},
		hook{Registration: channel("broken"), reply: `{`}, hook{Registration: channel("b"), reply: `[2]`},
		hook{Registration: channel("cut"), reply: `"c\ud83d"`})
	answer, err := b.Contributions(t.Context(), "tips", dispatch.Request{})
	if err != nil {
		t.Fatal(err)
	}
	answer.Sent(nil)
	if string(answer.Body) != `["one",[2],"c\ufffd"]` || !cmp.Equal(answer.Missing, []string{"broken"}) {
		t.Errorf("answer %s, missing %v", answer.Body, answer.Missing)
	}
}

// A channel is no data of an agent, so a contributor sees it whatever fields it may see.
func TestAContributorSeesItsChannel(t *testing.T) {
	b := newBench(t, dispatch.Options{Workers: onlyField("tool_name")}, hook{Registration: chain.Registration{ID: "a", Channels: []string{"tips"}}, reply: `1`})
	if _, err := b.Contributions(t.Context(), "tips", dispatch.Request{}); err != nil {
		t.Fatal(err)
	}
	if happened := b.deps.happened(); !slices.Contains(happened, `enforce a {"channel":"tips"}`) {
		t.Errorf("happened: %q", happened)
	}
}

// onlyField is of workers that see one field.
type onlyField string

func (onlyField) Allows(string, chain.Action) bool { return true }
func (f onlyField) Fields(string) []string         { return []string{string(f)} }

// Contributors may be slow, and one agent must not take the router from others.
func TestContributionsCountForTheirAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, dispatch.Options{MaxPerAgent: 1}, hook{Registration: chain.Registration{ID: "slow", Channels: []string{"tips"}}, block: true})
		ask := func(agent string) error {
			_, err := b.Contributions(t.Context(), "tips", dispatch.Request{Emitter: agent})
			return err
		}
		first := make(chan error)
		go func() { first <- ask("nats coder") }()
		synctest.Wait()
		if err := ask("nats coder"); wire.CodeOf(err) != wire.Overloaded {
			t.Errorf("a second one of the agent: %v; want 429", err)
		}
		if err := errors.Join(ask("nats other"), <-first, ask("nats coder")); err != nil {
			t.Error(err)
		}
	})
}

// Shadow hooks are called beside the chain and change nothing.
func TestShadow(t *testing.T) {
	shadow := reg("shadow", 10)
	shadow.Mode = chain.Shadow
	b := newBench(t, dispatch.Options{}, hook{Registration: shadow, reply: `{"action":"deny","reason":"no"}`})
	answer, err := b.Emit(t.Context(), request(t, events.ToolPre, `{}`))
	if err != nil || answer.DeniedBy != "" {
		t.Fatalf("answer %+v, %v: a shadow hook decides nothing", answer, err)
	}
	b.Wait()
	found := false
	for _, record := range b.deps.records(t) {
		found = found || record["hook"] == "shadow" && record["shadow"] == true && record["action"] == "deny"
	}
	if !found {
		t.Errorf("no record of the shadow's answer in %v", b.deps.records(t))
	}
}

func TestSessionEvents(t *testing.T) {
	for event, want := range map[string]string{
		events.PromptSubmit: "turn", events.ExecutionStart: "turn", events.SessionEnd: "session ends", events.SessionStart: "limits 100 50",
	} {
		b := newBench(t, dispatch.Options{})
		data := `{"session_id":"s1","mount_plan":{"session":{"injection_size_limit":100,"injection_budget_per_turn":50}}}`
		if _, err := b.Emit(t.Context(), request(t, event, data)); err != nil {
			t.Fatal(err)
		}
		if happened := strings.Join(b.deps.happened(), "\n"); !strings.Contains(happened, want) {
			t.Errorf("%s: %q did not happen:\n%s", event, want, happened)
		}
	}
}

// A limit that is no positive number does not keep the other from its session.
func TestSessionStartIgnoresOnlyTheWrongLimit(t *testing.T) {
	for _, wrong := range []string{`"100"`, `true`, `[1]`, `{}`, `null`, `0`, `-5`} {
		for limits, want := range map[string]string{
			`"injection_size_limit":` + wrong + `,"injection_budget_per_turn":50`: "limits 0 50",
			`"injection_size_limit":100,"injection_budget_per_turn":` + wrong:     "limits 100 0",
		} {
			b := newBench(t, dispatch.Options{})
			if _, err := b.Emit(t.Context(), request(t, events.SessionStart, `{"session_id":"s1","mount_plan":{"session":{`+limits+`}}}`)); err != nil {
				t.Fatal(err)
			}
			if happened := strings.Join(b.deps.happened(), "\n"); !strings.Contains(happened, want) {
				t.Errorf("%s: %q did not happen:\n%s", limits, want, happened)
			}
		}
	}
}
