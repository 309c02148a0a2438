package celhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/workerfile/celhook"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// write is data whose members are written in unusual ways, to check that they are kept.
const write = `{ "tool_name" :"Write", "n":1.50, "big":12345678901234567890123,"tool_input":{"file_path":"/etc/passwd","a.b":1, "list":[1,{"x":2}],"n":9007199254740993},"é\u0041":null}`

func compile(c celhook.Config) (kind.Handler, error) {
	hook, err := celhook.Build(kind.Section{}, c)
	return hook.Handler, err
}

func answer(t *testing.T, c celhook.Config, data string) (chain.Result, error) {
	t.Helper()
	h, err := compile(c)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return h(t.Context(), events.Event{ID: "e1", Name: "tool:pre", Session: "s1", Data: json.RawMessage(data)})
}

func TestTheFirstRuleThatHoldsAnswers(t *testing.T) {
	text := func(s string) *string { return &s }
	seconds := func(f float64) *float64 { return &f }
	for name, c := range map[string]struct {
		rules []celhook.Rule
		want  chain.Result
	}{
		"none holds": {
			[]celhook.Rule{{When: "false", Deny: text("a")}, {When: "event == 'tool:post'", Deny: text("b")}},
			chain.Result{},
		},
		"the second holds, and the third": {
			[]celhook.Rule{{When: "false", Deny: text("a")}, {When: "true", Deny: text("b")}, {Deny: text("c")}},
			chain.Denial("b"),
		},
		"a rule without an action passes what it matches": {
			[]celhook.Rule{{When: "data.tool_name == 'Write'"}, {Deny: text("b")}},
			chain.Result{},
		},
		"a rule without a condition": {
			[]celhook.Rule{{Deny: text("always")}},
			chain.Denial("always"),
		},
		"a reason with values in it": {
			[]celhook.Rule{{Deny: text("{{ data.tool_input.file_path }} in {{session_id}}: {{ data.tool_input.n }}, {{ data.tool_input.list }}{{ {'}}': {'a': '{{'}} }}!")}},
			chain.Denial(`/etc/passwd in s1: 9007199254740993, [1,{"x":2}]{"}}":{"a":"{{"}}!`),
		},
		"an approval request": {
			[]celhook.Rule{{Ask: &celhook.Ask{Prompt: "Write {{ data.tool_input.file_path }}?", Options: []string{"Allow once", "Deny"}, Timeout: seconds(30), Default: chain.Allow, Key: "{{ session_id }}"}}},
			chain.Result{Action: chain.AskUser, ApprovalPrompt: "Write /etc/passwd?", ApprovalOptions: []string{"Allow once", "Deny"}, ApprovalTimeout: seconds(30), ApprovalDefault: chain.Allow, ApprovalKey: "s1"},
		},
		"an injection": {
			[]celhook.Rule{{Inject: &celhook.Inject{Text: "mind {{ event }}", Role: chain.RoleUser, Ephemeral: true, AppendToLastToolResult: true}}},
			chain.Result{Action: chain.InjectContext, ContextInjection: "mind tool:pre", ContextInjectionRole: chain.RoleUser, Ephemeral: true, AppendToLastToolResult: true},
		},
		"a message to the user alone": {
			[]celhook.Rule{{UserMessage: "saw {{ data.tool_name }}", UserMessageLevel: chain.LevelWarning}},
			chain.Result{UserMessage: "saw Write", UserMessageLevel: chain.LevelWarning},
		},
		"a message beside an action": {
			[]celhook.Rule{{Deny: text("no"), UserMessage: "denied"}},
			chain.Result{Action: chain.Deny, Reason: "no", UserMessage: "denied"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := answer(t, celhook.Config{Rules: c.rules}, write)
			if err != nil {
				t.Fatalf("the handler failed: %v", err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

func TestModifyKeepsTheBytesOfAllElse(t *testing.T) {
	for name, c := range map[string]struct {
		modify     celhook.Modify
		data, want string
	}{
		"a member is replaced": {
			celhook.Modify{Set: map[string]celhook.Source{"tool_input.file_path": "'/srv' + data.tool_input.file_path"}},
			write,
			`{"tool_name":"Write","n":1.50,"big":12345678901234567890123,"tool_input":{"file_path":"/srv/etc/passwd","a.b":1,"list":[1,{"x":2}],"n":9007199254740993},"é\u0041":null}`,
		},
		"a member is added": {
			celhook.Modify{Set: map[string]celhook.Source{"tool_input.mode": "420"}}, `{"tool_input":{}}`, `{"tool_input":{"mode":420}}`,
		},
		"objects on the way are made": {
			celhook.Modify{Set: map[string]celhook.Source{"a.b.c": "data.n", "a.b.d": "[1, 'x']"}}, `{"n":9007199254740993}`, `{"n":9007199254740993,"a":{"b":{"c":9007199254740993,"d":[1,"x"]}}}`,
		},
		"a name with a dot": {
			celhook.Modify{Set: map[string]celhook.Source{"/tool_input/a.b": "2"}, Remove: []string{"/x~1y"}}, `{"tool_input":{"a.b":1},"x/y":3}`, `{"tool_input":{"a.b":2}}`,
		},
		"a name that was written with an escape": {
			celhook.Modify{Set: map[string]celhook.Source{"éA": "1"}}, `{"é\u0041":null,"big":1e400}`, `{"é\u0041":1,"big":1e400}`,
		},
		"values are computed from the data as it came": {
			celhook.Modify{Set: map[string]celhook.Source{"a": "data.b", "b": "data.a"}}, `{"a":1,"b":2}`, `{"a":2,"b":1}`,
		},
		"members are removed": {
			celhook.Modify{Remove: []string{"a", "b.c", "d"}}, `{"a":1,"b":{"c":2,"e":3},"d":4}`, `{"b":{"e":3}}`,
		},
		"what is not there is removed": {
			celhook.Modify{Remove: []string{"a", "b.c", "d.e.f"}}, `{"b":{},"d":"text"}`, `{"b":{},"d":"text"}`,
		},
		"all is removed":   {celhook.Modify{Remove: []string{"a"}}, `{"a":1}`, `{}`},
		"there is no data": {celhook.Modify{Set: map[string]celhook.Source{"a": "null"}}, ``, `{"a":null}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := answer(t, celhook.Config{Rules: []celhook.Rule{{Modify: &c.modify}}}, c.data)
			if err != nil {
				t.Fatalf("the handler failed: %v", err)
			}
			if got.Action != chain.Modify {
				t.Errorf("action %q; want modify", got.Action)
			}
			if diff := cmp.Diff(c.want, string(got.Data)); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRulesSeeTheTool(t *testing.T) {
	reason := "{{ tool.name }}: {{ tool.command }} in {{ tool.cwd }}"
	config := celhook.Config{Rules: []celhook.Rule{
		{When: "tool.class == 'shell' && tool.command.startsWith('rm ')", Deny: &reason},
		{When: "tool.class == 'file'", Modify: &celhook.Modify{Set: map[string]celhook.Source{"operation": "tool.operation", "paths": "tool.paths"}}},
	}}
	for data, want := range map[string]chain.Result{
		`{"tool_name":"shell","tool_input":{"command":["bash","-lc","rm -r x"]},"cwd":"/p"}`: chain.Denial("shell: rm -r x in /p"),
		`{"toolName":"edit","toolArgs":"{\"path\":\"a\"}"}`: {
			Action: chain.Modify, Data: json.RawMessage(`{"toolName":"edit","toolArgs":"{\"path\":\"a\"}","operation":"edit","paths":["a"]}`),
		},
		`{"tool_name":"Agent"}`: {},
	} {
		got, err := answer(t, config, data)
		if err != nil {
			t.Fatalf("the handler failed on %s: %v", data, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("result on %s (-want +got):\n%s", data, diff)
		}
	}
}

func TestAFieldThatNoToolHasIsRefused(t *testing.T) {
	_, err := compile(celhook.Config{Rules: []celhook.Rule{{When: "true\n&& tool.clas == 'shell'", UserMessage: "x"}}})
	var field *kind.FieldError
	if !errors.As(err, &field) || field.Pointer != "/rules/0/when" || field.Line != 2 || field.Column != 8 ||
		!strings.Contains(err.Error(), "undefined field 'clas': tool has class, command") {
		t.Errorf("New = %v (%+v); want the field, its place, and what there is", err, field)
	}
}

func TestFailedExpressionsAreErrors(t *testing.T) {
	text := "{{ data.missing }}"
	for name, c := range map[string]struct {
		rule celhook.Rule
		want string
	}{
		"a condition":           {celhook.Rule{When: "data.missing == 1"}, "cel.rules[0].when: no such key: missing: ask first whether it is there, like has(data.x)"},
		"a reason":              {celhook.Rule{Deny: &text}, "cel.rules[0].deny: no such key: missing: ask first whether it is there, like has(data.x)"},
		"a prompt":              {celhook.Rule{Ask: &celhook.Ask{Prompt: text}}, "cel.rules[0].ask.prompt: no such key: missing: ask first whether it is there, like has(data.x)"},
		"a text to inject":      {celhook.Rule{Inject: &celhook.Inject{Text: text}}, "cel.rules[0].inject.text: no such key: missing: ask first whether it is there, like has(data.x)"},
		"a message":             {celhook.Rule{UserMessage: text}, "cel.rules[0].user_message: no such key: missing: ask first whether it is there, like has(data.x)"},
		"a value":               {celhook.Rule{Modify: &celhook.Modify{Set: map[string]celhook.Source{"a": "data.missing"}}}, "cel.rules[0].modify.set /a: no such key: missing: ask first whether it is there, like has(data.x)"},
		"a path through a text": {celhook.Rule{Modify: &celhook.Modify{Set: map[string]celhook.Source{"tool_name.x": "1"}}}, "cel.rules[0].modify.set /tool_name/x: it goes through a value that is not an object"},
		"a path through a list": {celhook.Rule{Modify: &celhook.Modify{Set: map[string]celhook.Source{"tool_input.list.0": "1"}}}, "cel.rules[0].modify.set /tool_input/list/0: it goes through a value that is not an object"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := answer(t, celhook.Config{Rules: []celhook.Rule{c.rule}}, write)
			if err == nil || err.Error() != c.want {
				t.Errorf("the handler answered %+v, %v; want %s", got, err, c.want)
			}
		})
	}
}

func TestAnInjectionMayBeAText(t *testing.T) {
	for text, want := range map[string]struct{ content, err string }{
		`{"rules":[{"inject":"mind {{ event }}"}]}`:          {content: "mind tool:pre"},
		`{"rules":[{"inject":{"text":"mind {{ event }}"}}]}`: {content: "mind tool:pre"},
		`{"rules":[{"inject":"{{ data.missing }}"}]}`:        {err: "cel.rules[0].inject: no such key: missing: ask first whether it is there, like has(data.x)"},
	} {
		var c celhook.Config
		if err := jsonv2.Unmarshal([]byte(text), &c); err != nil {
			t.Fatal(err)
		}
		got, err := answer(t, c, write)
		if want.err == "" && (err != nil || got.Action != chain.InjectContext || got.ContextInjection != want.content) || want.err != "" && (err == nil || err.Error() != want.err) {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
	}
}

func TestARuleIsNotTriedWhenTheTimeIsOver(t *testing.T) {
	h, err := compile(celhook.Config{Rules: []celhook.Rule{{When: "true"}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h(ctx, events.Event{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v; want %v", err, context.Canceled)
	}
}

func TestConfigIsReadFromJSON(t *testing.T) {
	var c celhook.Config
	if err := json.Unmarshal([]byte(`{"rules":[{"when":true,"modify":{"set":{"a":30,"b":"data.x"}}}]}`), &c); err != nil {
		t.Fatal(err)
	}
	want := celhook.Config{Rules: []celhook.Rule{{When: "true", Modify: &celhook.Modify{Set: map[string]celhook.Source{"a": "30", "b": "data.x"}}}}}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	if err := json.Unmarshal([]byte(`{"rules":[{"when":{}}]}`), &c); err == nil || !strings.Contains(err.Error(), "must be a CEL expression") {
		t.Errorf("an object as a condition: %v; want an error", err)
	}
}

func TestARuleHasTheTimeOfTheCall(t *testing.T) {
	reason := "at {{ now }}"
	h, err := compile(celhook.Config{Rules: []celhook.Rule{{When: "now.getHours() >= 18", Deny: &reason}}})
	if err != nil {
		t.Fatal(err)
	}
	for hour, want := range map[int]string{17: "", 18: "at 2026-01-05T18:00:00Z"} {
		ctx := kind.WithTime(t.Context(), time.Date(2026, 1, 5, hour, 0, 0, 0, time.UTC))
		if got, err := h(ctx, events.Event{Name: "tool:pre"}); err != nil || got.Reason != want {
			t.Errorf("at %d: %+v, %v; want %q", hour, got, err, want)
		}
	}
	soon := time.Now().Add(time.Minute).UTC().Format(time.RFC3339)
	h, err = compile(celhook.Config{Rules: []celhook.Rule{{When: celhook.Source("now < timestamp('" + soon + "') && now > timestamp('" + soon + "') - duration('5m')"), Deny: &reason}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := h(t.Context(), events.Event{Name: "tool:pre"}); err != nil || !got.Denied() {
		t.Errorf("by the real clock: %+v, %v; want a denial", got, err)
	}
}
