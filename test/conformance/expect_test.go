package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// sample is an outcome in which each expectation key has something to look at.
func sample(t *testing.T, now time.Time) *outcome {
	stamp := now.UTC().Format(time.RFC3339Nano)
	received := func(text string) any {
		data := parsed(t, text).(map[string]any)
		data["timestamp"] = stamp
		return data
	}
	return &outcome{
		record: record{
			calls: []call{
				{id: "lint", event: "tool:pre", data: received(`{"n":1}`)},
				{id: "guard", event: "tool:pre", data: received(`{"n":2}`)},
				{id: "twice", event: "tool:pre", data: received(`{}`)},
				{id: "twice", event: "tool:pre", data: received(`{}`)},
			},
			approvals: []any{parsed(t, `{"prompt":"P?","options":["Allow","Deny"],"timeout":12.5,"default":"deny","hook":"guard"}`)},
		},
		result: parsed(t, `{"action":"deny","reason":"Hook GUARD failed","data":{"n":3,"timestamp":"T"},
			"tool:pre":["a","b"],"tool:post":[],
			"suppress_output":["guard"],"injected_tokens":20,
			"warnings":[{"kind":"sanitized"},{"kind":"oversize","hook":"a"},{"kind":"budget"}]}`).(map[string]any),
		list: []any{parsed(t, `{"a":1}`), "x"},
		messages: []any{map[string]any{
			"role": "system", "content": "A", "metadata": map[string]any{"source": "hook", "timestamp": stamp},
		}},
		transient: []any{parsed(t, `{"role":"user","content":"B","append_to_last_tool_result":true}`)},
		request:   []any{parsed(t, `{"role":"user","content":"hi"}`)},
		display:   []any{parsed(t, `{"message":"M","level":"info","source":"hook:guard"}`)},
		elapsed:   100 * time.Millisecond,
	}
}

func TestMeets(t *testing.T) {
	covered := map[string]bool{}
	for _, tt := range []struct {
		key        string
		met, wrong []string // values of the expectation
	}{
		{"action", []string{`"deny"`}, []string{`"continue"`, `null`}},
		{"reason", []string{`"Hook GUARD failed"`}, []string{`"hook guard failed"`, `null`}},
		{"context_injection", []string{`null`}, []string{`""`}},
		{"context_injection_role", []string{`"system"`, `null`}, []string{`"user"`}},
		{"ephemeral", []string{`false`}, []string{`true`, `0`}},
		{"suppress_output", []string{`["guard"]`}, []string{`false`}},
		{"append_to_last_tool_result", []string{`false`}, []string{`true`}},
		{"approval_prompt", []string{`null`}, []string{`"P?"`}},
		{"approval_options", []string{`null`}, []string{`[]`}},
		{"approval_timeout", []string{`300.0`, `300`}, []string{`30`}},
		{"approval_default", []string{`"deny"`}, []string{`"allow"`}},
		{"data", []string{`{"n":3.0}`, `{"n":3,"timestamp":"T"}`}, []string{`{}`, `{"n":3,"m":1}`, `{"n":3,"timestamp":"U"}`, `null`}},
		{"reason_contains", []string{`["guard","HOOK"]`, `[]`}, []string{`["guard","lint"]`, `[1]`}},
		{"calls", []string{`["lint","guard","twice","twice"]`}, []string{`["guard","lint","twice","twice"]`, `["lint","guard","twice"]`, `[]`}},
		{"called", []string{`["guard","lint","twice","twice"]`}, []string{`["guard","lint"]`, `["guard","lint","twice","other"]`}},
		{"received", []string{`{"lint":{"n":1},"guard":{"n":2}}`}, []string{`{"lint":{"n":2}}`, `{"twice":{}}`, `{"other":{}}`}},
		{"received_event", []string{`{"lint":"tool:pre"}`}, []string{`{"lint":"tool:post"}`, `{"twice":"tool:pre"}`}},
		{"timestamp_received", []string{`{"lint":"stamped","twice":"stamped"}`}, []string{`{"lint":"absent"}`, `{"other":"stamped"}`, `{"lint":"soon"}`, `[]`}},
		{"timestamp_result", []string{`{"equals":"T"}`}, []string{`{"equals":"U"}`, `"stamped"`, `"absent"`}},
		{"timestamp_same", []string{`true`}, []string{`false`}},
		{"message_timestamp", []string{`true`}, []string{`false`}},
		{"collected", []string{`[{"a":1.0},"x"]`}, []string{`["x",{"a":1}]`, `[{},"x"]`, `[]`}},
		{"list", []string{`{"tool:pre":["a","b"]}`}, []string{`{"tool:pre":["b","a"]}`, `{}`}},
		{"messages", []string{`[{"role":"system","metadata":{"source":"hook"}}]`}, []string{`[]`, `[{"role":"user"}]`, `[{},{}]`}},
		{"transient", []string{`[{"content":"B"}]`}, []string{`[]`, `[{"append_to_last_tool_result":false}]`}},
		{"request_messages", []string{`[{"content":"hi"}]`}, []string{`[]`, `[{"content":"ho"}]`}},
		{"display", []string{`[{"source":"hook:guard"}]`}, []string{`[]`, `[{"level":"error"}]`}},
		{"approvals", []string{`[{"timeout":12.5}]`}, []string{`[]`, `[{"options":["Allow"]}]`}},
		{"approval_count", []string{`1`}, []string{`0`, `2`, `true`}},
		{"suppress_output_names", []string{`["guard"]`}, []string{`[]`}},
		{"injected_tokens", []string{`20`}, []string{`0`}},
		{"warnings", []string{`["oversize","budget"]`}, []string{`["budget","oversize"]`, `[]`}},
		{"max_elapsed_ms", []string{`100`, `5000`}, []string{`99`, `"soon"`}},
	} {
		covered[tt.key] = true
		t.Run(tt.key, func(t *testing.T) {
			o := sample(t, time.Now())
			if tt.key == "list" {
				o.result = parsed(t, `{"tool:pre":["a","b"],"tool:post":[]}`).(map[string]any)
			}
			for _, want := range tt.met {
				if errs := o.meets(map[string]json.RawMessage{tt.key: json.RawMessage(want)}); len(errs) != 0 {
					t.Errorf("%s is reported: %v", want, errs)
				}
			}
			for _, want := range tt.wrong {
				errs := o.meets(map[string]json.RawMessage{tt.key: json.RawMessage(want)})
				if len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), tt.key) {
					t.Errorf("%s is reported as %v, want one error about %s", want, errs, tt.key)
				}
			}
		})
	}
	for key := range checks {
		if !covered[key] {
			t.Errorf("%s has no test", key)
		}
	}
}

// An outcome in which nothing happened meets expectations of nothing, and no
// others.
func TestMeetsNothing(t *testing.T) {
	for key, want := range map[string]string{
		"calls": `[]`, "called": `[]`, "messages": `[]`, "transient": `[]`, "display": `[]`, "approvals": `[]`,
		"warnings": `[]`, "suppress_output_names": `[]`, "injected_tokens": `0`, "approval_count": `0`,
		"data": `null`, "reason": `null`, "list": `{}`, "timestamp_result": `"absent"`,
		"timestamp_same": `false`, "message_timestamp": `false`,
	} {
		o := &outcome{result: map[string]any{}}
		if errs := o.meets(map[string]json.RawMessage{key: json.RawMessage(want)}); len(errs) != 0 {
			t.Errorf("%s: %s is reported: %v", key, want, errs)
		}
	}
}

func TestMeetsReportsEveryKey(t *testing.T) {
	errs := sample(t, time.Now()).meets(map[string]json.RawMessage{
		"action": json.RawMessage(`"continue"`), "reason": json.RawMessage(`"x"`), "approval_count": json.RawMessage(`1`),
		"calls": json.RawMessage(`[]`),
	})
	got := fmt.Sprint(errors.Join(errs...))
	want := strings.Join([]string{
		`action: want "continue", got "deny"`,
		`calls: want [], got ["lint","guard","twice","twice"]`,
		`reason: want "x", got "Hook GUARD failed"`,
	}, "\n")
	if got != want {
		t.Errorf("meets reports\n%s\nwant\n%s", got, want)
	}
}

func TestTimestampSameNeedsTheSame(t *testing.T) {
	for name, calls := range map[string][]call{
		"two stamps":       {{data: parsed(t, `{"timestamp":"T"}`)}, {data: parsed(t, `{"timestamp":"U"}`)}},
		"one without":      {{data: parsed(t, `{"timestamp":"T"}`)}, {data: parsed(t, `{}`)}},
		"none has a stamp": {{data: parsed(t, `{}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			o := &outcome{record: record{calls: calls}}
			if err := checkTimestampSame("timestamp_same", true, o); err == nil {
				t.Error("not reported")
			}
		})
	}
}
