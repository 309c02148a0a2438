package regohook_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/regohook"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func call(tool string) events.Event {
	return events.Event{
		ID: "e1", Source: "/agent", Name: events.ToolPre, Session: "s1", Time: "2026-01-02T03:04:05Z",
		Data: json.RawMessage(`{"tool_name":"` + tool + `","tool_input":{"command":"s3cret"},"big":9007199254740993}`),
	}
}

func hook(t *testing.T, c regohook.Config) kind.Handler {
	t.Helper()
	h, err := regohook.New(kind.Section{}, c)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return h.Handler
}

func TestResultsOfRules(t *testing.T) {
	for sentence, c := range map[string]struct {
		rules, query string
		want         chain.Result
	}{
		"deny with reasons":              {`deny contains m if some m in ["b", "a"]`, "", chain.Denial("a\nb")},
		"deny with objects":              {`deny contains {"msg": "a", "code": 1} if true`, "", chain.Denial("a")},
		"deny without any":               {`deny contains "a" if false`, "", chain.Result{}},
		"deny as a text":                 {`deny := "a"`, "", chain.Denial("a")},
		"deny that is true":              {`deny := true`, "", chain.Denial("The policy denies it")},
		"deny that is false":             {`deny := false`, "", chain.Result{}},
		"allow that is true":             {`allow if input.tool.class == "shell"`, "", chain.Result{}},
		"allow that is false":            {`default allow := false`, "", chain.Denial("The policy does not allow it")},
		"allow that is undefined":        {`allow if input.data.nothing`, "", chain.Denial("The policy does not allow it")},
		"allow by its name":              {`allow if input.data.nothing`, "data.hooks.allow", chain.Denial("The policy does not allow it")},
		"allow and a reason":             {"default allow := false\ndeny contains \"a\"", "", chain.Denial("a")},
		"ask with questions":             {`ask contains sprintf("Run %s?", [input.data.tool_name])`, "", chain.Question("Run Bash?")},
		"ask that is true":               {`ask := true`, "", chain.Question("Allow Bash: s3cret?\n\nAsked because: The policy wants a person to decide")},
		"deny over ask":                  {"ask := true\ndeny contains \"a\"", "", chain.Denial("a")},
		"ask over a result":              {"ask := \"sure?\"\nresult := {\"action\": \"modify\", \"data\": {}}", "", chain.Question("sure?")},
		"a result":                       {`result := {"action": "inject_context", "context_injection": input.session_id, "ephemeral": true}`, "", chain.Result{Action: chain.InjectContext, ContextInjection: "s1", Ephemeral: true}},
		"a result beside nothing":        {"deny contains \"a\" if false\nresult := {\"action\": \"continue\", \"user_message\": \"m\"} if true", "", chain.Result{Action: chain.Continue, UserMessage: "m"}},
		"a result alone, undefined":      {"deny contains \"a\" if false\nresult := {\"action\": \"deny\"} if input.data.nothing", "", chain.Result{}},
		"integers keep their digits":     {`result := {"action": "modify", "data": {"big": input.data.big, "sum": input.data.big + 1}}`, "", chain.Result{Action: chain.Modify, Data: json.RawMessage(`{"big":9007199254740993,"sum":9007199254740994}`)}},
		"a rule of another name":         {`verdict := {"action": "deny", "reason": input.event}`, "data.hooks.verdict", chain.Denial("tool:pre")},
		"a boolean of another name":      {`fine := false`, "data.hooks.fine", chain.Denial("The policy does not allow it")},
		"reasons of another name":        {`violation contains {"msg": "a"}`, "data.hooks.violation", chain.Denial("a")},
		"helpers are not asked":          {"deny contains \"a\" if false\nhelper := 1 if true\nhelper := 2 if true", "", chain.Result{}},
		"what is not a tool has no tool": {`deny contains "a" if not input.tool.name`, "", chain.Result{}},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := hook(t, regohook.Config{Policy: "package hooks\n\n" + c.rules, Query: c.query})(t.Context(), call("Bash"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got, cmpopts.IgnoreFields(chain.Result{}, "Rule")); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInvalidResultsAreFailures(t *testing.T) {
	for sentence, c := range map[string]struct {
		rules, query, want string
	}{
		"an undefined result":           {`result := {"action": "deny"} if input.data.nothing`, "", "result is undefined for this event: give it a default"},
		"an undefined rule":             {`fine if input.data.nothing`, "data.hooks.fine", "fine is undefined for this event"},
		"an object that is no result":   {`result := {"allowed": true}`, "", "the value of result is an object without action"},
		"a result with an odd action":   {`result := {"action": "explode"}`, "", "the value of result: invalid result: action must be one of"},
		"a number":                      {`deny := 7`, "", "the value of deny is a number"},
		"reasons that are numbers":      {`deny contains 7`, "", "the value of deny is a list or a set that is not of texts"},
		"a text that allows":            {`allow := "yes"`, "", "the value of allow is a text"},
		"an object that denies":         {`deny := {"a": 1}`, "", "the value of deny is an object"},
		"two values":                    {"deny := 1 if true\ndeny := 2 if true", "", "eval_conflict_error"},
		"a builtin function that fails": {`deny contains "a" if to_number(input.data.tool_input.command) > 1`, "", "line 3 of the policy: eval_builtin_error: to_number"},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := hook(t, regohook.Config{Policy: "package hooks\n\n" + c.rules, Query: c.query})(t.Context(), call("Bash"))
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("result %+v, %v; want the error %s", got, err, c.want)
			}
		})
	}
}

func TestALenientPolicyTakesAFailureForUndefined(t *testing.T) {
	h := hook(t, regohook.Config{Policy: "package hooks\n\ndeny contains \"a\" if to_number(input.data.tool_name) > 1", Lenient: true})
	if got, err := h(t.Context(), call("Bash")); err != nil || got.Denied() {
		t.Errorf("result %+v, %v; want continue", got, err)
	}
}

func TestTheInputIsTheEvent(t *testing.T) {
	h := hook(t, regohook.Config{Policy: "package hooks\n\nresult := {\"action\": \"modify\", \"data\": input}"})
	known := call("Bash")
	known.Extensions = map[string]string{"hooklabels": "secret-read,x", "hookemitter": "nats agent/coder", "hookrole": "agent", "hookroot": "r", "hookparent": "p", "hookdepth": "2"}
	for name, c := range map[string]struct {
		event events.Event
		want  string
	}{
		"of a tool": {known, `{"data":{"big":9007199254740993,"tool_input":{"command":"s3cret"},"tool_name":"Bash"},"emitter":{"id":"nats agent/coder","name":"coder","proven":true,"role":"agent"},"event":"tool:pre","event_id":"e1",` +
			`"labels":["secret-read","x"],"lineage":{"depth":2,"parent":"p","root":"r"},"session_id":"s1",` +
			`"source":"/agent","time":"2026-01-02T03:04:05Z","tool":{"class":"shell","command":"s3cret","input":{"command":"s3cret"},"known":true,"name":"Bash","texts":["s3cret"]}}`},
		"without data": {events.Event{ID: "e", Name: "session:start"}, `{"data":{},"emitter":{"id":"","name":"","proven":false,"role":""},"event":"session:start","event_id":"e",` +
			`"labels":[],"lineage":{"depth":0,"parent":"","root":""},"session_id":"","source":"","time":""}`},
	} {
		got, err := h(t.Context(), c.event)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, string(got.Data)); diff != "" {
			t.Errorf("%s: input (-want +got):\n%s", name, diff)
		}
	}
	if _, err := h(t.Context(), events.Event{Name: "x", Data: []byte("[")}); err == nil {
		t.Error("data that is no JSON is no error")
	}
}

// TestAnEvaluationEndsWithItsContext uses a policy that would run for years.
func TestAnEvaluationEndsWithItsContext(t *testing.T) {
	h := hook(t, regohook.Config{Policy: `
package hooks

deny contains "a" if {
	some a in numbers.range(1, 10000)
	some b in numbers.range(1, 10000)
	some c in numbers.range(1, 10000)
	a * b * c == -1
}`})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := h(ctx, call("Bash")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v; want %v", err, context.DeadlineExceeded)
	}
}

// TestTheNetworkIsOff has a remote schema: a host that is not allowed is not contacted.
func TestTheNetworkIsOff(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the network was reached") }))
	defer server.Close()
	h := hook(t, regohook.Config{Policy: "package hooks\n\ndeny contains \"a\" if {\n  [ok, _] := json.match_schema({}, {\"$ref\": \"" + server.URL + "/s.json\"})\n  not ok\n}"})
	if got, err := h(t.Context(), call("Bash")); err == nil {
		t.Errorf("result %+v of a schema that is not there; want an error", got)
	}
}

func TestManyAtOnce(t *testing.T) {
	h := hook(t, regohook.Config{Policy: "package hooks\n\ndeny contains input.data.tool_name"})
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			name := strings.Repeat("x", i+1)
			for range 20 {
				if got, err := h(t.Context(), call(name)); err != nil || got.Reason != name {
					t.Errorf("result %+v, %v; want a denial of %s", got, err, name)
				}
			}
		})
	}
	all.Wait()
}

func TestAPolicyHasTheTimeOfTheCall(t *testing.T) {
	hook, err := regohook.New(kind.Section{}, regohook.Config{Policy: "package hooks\n\ndeny contains \"late\" if time.clock(time.now_ns())[0] >= 18"})
	if err != nil {
		t.Fatal(err)
	}
	for hour, denied := range map[int]bool{17: false, 18: true} {
		ctx := kind.WithTime(t.Context(), time.Date(2026, 1, 5, hour, 0, 0, 0, time.UTC))
		if got, err := hook.Handler(ctx, call("Bash")); err != nil || got.Denied() != denied {
			t.Errorf("at %d: %+v, %v; want a denial: %v", hour, got, err, denied)
		}
	}
}
