package evaluate_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/hookrouter/hookrouter/internal/evaluate"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds/basic"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

func TestAFileDecidesWithTheRecordedHooks(t *testing.T) {
	t.Parallel()
	const file = `
hooks:
  - id: late
    events: [tool:pre]
    cel: {rules: [{when: "data.tool_name == 'B'", deny: late}]}
  - id: early
    events: [tool:pre]
    priority: -1
    cel: {rules: [{when: "data.tool_name == 'A'", deny: early}]}
  - id: both
    events: [tool:pre]
    priority: 9
    cel: {rules: [{when: "data.tool_name == 'C'", deny: both}]}
  - id: acts
    events: [tool:pre]
    match: data.tool_name == 'E'
    exec: {command: [sh, -c, 'exit 1']}
`
	loaded, err := workerfile.Parse("worker.yaml", []byte(file), basic.Kinds(kind.Worker{}))
	if err != nil {
		t.Fatal(err)
	}
	policy := evaluate.NewFilePolicy(loaded, evaluate.FilePolicyOptions{WithRecorded: true})
	for sentence, c := range map[string]struct{ tool, recorded, want string }{
		"before the others by a negative priority":       {"A", `{"id":"x"}`, "deny early: early"},
		"after them else":                                {"B", `{"id":"x"},{"id":"y"}`, "deny late: early x* y* late"},
		"in its recorded place":                          {"C", `{"id":"x"},{"id":"both"},{"id":"y"}`, "deny both: early x* both"},
		"in the order of the file, where it has several": {"D", `{"id":"both"},{"id":"x"},{"id":"late"}`, "continue : early late x* both"},
		"a recorded denial holds":                        {"B", `{"id":"x","action":"deny"}`, "deny x: early x*"},
		"one that the file takes back":                   {"D", `{"id":"x"},{"id":"both","action":"deny"}`, "continue : early x* both late (open)"},
		"what a recorded hook made of the data":          {"D", `{"id":"x","action":"modify","data":{"tool_name":"B"}}`, "deny late: early x* late"},
		"a command that answered then":                   {"E", `{"id":"acts","action":"deny"}`, "deny acts: early acts*"},
		"a command that could not be asked then":         {"E", `{"id":"acts","failure":"match_error","error":"x","failed_open":true}`, "not replayable: acts runs a command, is not replay_safe and was not in the recorded chain (--run-all runs it)"},
	} {
		t.Run(sentence, func(t *testing.T) {
			recording := &evaluate.Recording{Event: "tool:pre", Data: json.RawMessage(`{"tool_name":"` + c.tool + `"}`)}
			if err := json.Unmarshal([]byte("["+c.recorded+"]"), &recording.Answers); err != nil {
				t.Fatal(err)
			}
			out, err := policy.Replay(t.Context(), recording)
			got := string(out.Action) + " " + out.DeniedBy + ":"
			for _, call := range out.Calls {
				got += " " + call.ID + map[bool]string{true: "*"}[call.Recorded]
			}
			if out.Open {
				got += " (open)"
			}
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// When two files are compared, a text that the log masks is the same for both, and hides no other
// difference.
func TestAMaskedTextHidesNoOther(t *testing.T) {
	t.Parallel()
	policy := func(text string) evaluate.Policy {
		file, err := workerfile.Parse("worker.yaml", []byte("hooks: [{id: tells, events: [\"tool:pre\"], cel: {rules: [{inject: "+text+"}]}}]"), basic.Kinds(kind.Worker{}))
		if err != nil {
			t.Fatal(err)
		}
		return evaluate.NewFilePolicy(file, evaluate.FilePolicyOptions{WithRecorded: true}).Replay
	}
	masked := audit.Data{Value: json.RawMessage(`"***"`), Redacted: true}
	source := evaluate.FromExport(bytes.NewReader(export(t, []any{
		record(audit.HookResult, "c1", "other", "inject_context", audit.Call{Injection: &masked}), ended("c1", "inject_context", 1),
	})), evaluate.RecordingFilter{})
	err := evaluate.Replay(t.Context(), source, policy("new"), evaluate.ReplayOptions{Was: policy("old")}, func(r evaluate.Replayed) error {
		if r.Differs != evaluate.DiffersInText {
			t.Errorf("differs %q, refused: %v", r.Differs, r.Refusal)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
