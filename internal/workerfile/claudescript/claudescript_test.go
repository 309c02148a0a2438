package claudescript_test

import (
	"encoding/json"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/workerfile/claudescript"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func call(t *testing.T, event, data string) claudescript.Call {
	t.Helper()
	c, ok, err := claudescript.CallOf(events.Event{ID: "e1", Name: event, Session: "s1", Data: json.RawMessage(data)}, "/w")
	if err != nil || !ok {
		t.Fatalf("CallOf(%s) = %v, %v", event, ok, err)
	}
	return c
}

// TestInput has the members that a script of each hook event expects, after those that all have.
func TestInput(t *testing.T) {
	for _, c := range []struct{ event, data, name, rest string }{
		{"session:start", `{}`, "SessionStart", `"source":"startup"`},
		{"session:start", `{"source":"compact","model":"m"}`, "SessionStart", `"source":"compact","model":"m"`},
		{"session:resume", ``, "SessionStart", `"source":"resume"`},
		{"session:fork", `{}`, "SessionStart", `"source":"fork"`},
		{"session:fork", `{"hook_event_name":"SubagentStart","agent_id":"a"}`, "SubagentStart", `"agent_id":"a","agent_type":""`},
		{"session:fork", `{"hook_event_name":"Notification"}`, "SessionStart", `"source":"fork"`},
		{"session:end", `{"reason":"user_exit"}`, "SessionEnd", `"reason":"prompt_input_exit"`},
		{"session:end", `{"reason":"clear"}`, "SessionEnd", `"reason":"clear"`},
		{"session:end", `{}`, "SessionEnd", `"reason":"other"`},
		{"prompt:submit", `{"prompt":"hi"}`, "UserPromptSubmit", `"prompt":"hi"`},
		{"prompt:complete", `{"final_message":{"role":"assistant","content":"done"}}`, "Stop", `"stop_hook_active":false,"last_assistant_message":"done","final_message":{"role":"assistant","content":"done"}`},
		{"orchestrator:complete", `{"stop_hook_active":true}`, "Stop", `"stop_hook_active":true,"last_assistant_message":""`},
		{"tool:pre", `{"tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t1"}`, "PreToolUse", `"tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t1"`},
		{"tool:pre", `{"toolName":"bash","toolArgs":{"command":"ls"}}`, "PreToolUse", `"tool_name":"bash","tool_input":{"command":"ls"},"tool_use_id":"e1","toolName":"bash","toolArgs":{"command":"ls"}`},
		{"tool:pre", `{"toolName":"bash","toolInput":{"command":"ls"}}`, "PreToolUse", `"tool_name":"bash","tool_input":{"command":"ls"},"tool_use_id":"e1","toolName":"bash","toolInput":{"command":"ls"}`},
		{"tool:pre", `{"tool_name":"Bash","arguments":"{\"command\":\"ls\"}"}`, "PreToolUse", `"tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"e1","arguments":"{\"command\":\"ls\"}"`},
		{"tool:pre", `{"tool_call":{"name":"Bash","input":{"command":"ls"}}}`, "PreToolUse", `"tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"e1","tool_call":{"name":"Bash","input":{"command":"ls"}}`},
		{"tool:pre", `{}`, "PreToolUse", `"tool_name":"","tool_input":{},"tool_use_id":"e1"`},
		{"tool:post", `{"tool_name":"Bash","tool_input":{},"tool_result":{"stdout":"x"},"duration_ms":5}`, "PostToolUse", `"tool_name":"Bash","tool_input":{},"tool_use_id":"e1","tool_response":{"stdout":"x"},"tool_result":{"stdout":"x"},"duration_ms":5`},
		{"error:tool", `{"tool_name":"Bash","error":{"message":"no such file"}}`, "PostToolUseFailure", `"tool_name":"Bash","tool_input":{},"tool_use_id":"e1","error":"no such file"`},
		{"tool:error", `{"tool_name":"Bash","error":{"code":7}}`, "PostToolUseFailure", `"tool_name":"Bash","tool_input":{},"tool_use_id":"e1","error":"{\"code\":7}"`},
		{"user:notification", `{"notification_type":"approval_required","message":"m"}`, "Notification", `"message":"m","notification_type":"permission_prompt"`},
		{"approval:required", `{"tool_name":"Bash"}`, "PermissionRequest", `"tool_name":"Bash","tool_input":{},"tool_use_id":"e1"`},
		{"approval:denied", `{"tool_name":"Bash","reason":"r"}`, "PermissionDenied", `"tool_name":"Bash","tool_input":{},"tool_use_id":"e1","reason":"r"`},
		{"provider:error", `{"error":"rate_limit"}`, "StopFailure", `"error":"rate_limit"`},
		{"provider:error", `{}`, "StopFailure", `"error":"unknown"`},
		{"context:pre-compact", `{"trigger":"manual"}`, "PreCompact", `"trigger":"manual","custom_instructions":""`},
		{"context:post_compact", `{}`, "PostCompact", `"trigger":"auto"`},
	} {
		want := `{"session_id":"s1","transcript_path":"","cwd":"/w","permission_mode":"default","hook_event_name":"` + c.name + `",` + c.rest + "}\n"
		if diff := cmp.Diff(want, string(call(t, c.event, c.data).Input())); diff != "" {
			t.Errorf("input of %s %s (-want +got):\n%s", c.event, c.data, diff)
		}
	}
}

func TestASubagentHasTheSessionOfItsParent(t *testing.T) {
	want := `{"session_id":"p1","transcript_path":"/t","cwd":"/p","permission_mode":"plan","hook_event_name":"SubagentStop","agent_id":"s1","agent_type":"reviewer",` +
		`"agent_transcript_path":"","stop_hook_active":false,"last_assistant_message":"","parent_session_id":"p1","agent_name":"reviewer"}` + "\n"
	got := call(t, "agent:complete", `{"transcript_path":"/t","cwd":"/p","permission_mode":"plan","parent_session_id":"p1","agent_name":"reviewer"}`).Input()
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("input (-want +got):\n%s", diff)
	}
}

const bash = `{"tool_name":"Bash","tool_input":{"command":"ls"}}`

func TestResult(t *testing.T) {
	pre := func(rest string) string {
		return `{"hookSpecificOutput":{"hookEventName":"PreToolUse",` + rest + `}}`
	}
	warning := func(text string) chain.Result {
		return chain.Result{UserMessage: text, UserMessageLevel: chain.LevelWarning}
	}
	for sentence, c := range map[string]struct {
		event, stdout string
		want          chain.Result
	}{
		"nothing":                           {"tool:pre", "", chain.Result{}},
		"an empty object":                   {"tool:pre", " {}\n", chain.Result{}},
		"text before a tool":                {"tool:pre", "all is well", chain.Result{}},
		"text at the start of a session":    {"session:start", "be brief\n", chain.Injection("be brief")},
		"text beside a prompt":              {"prompt:submit", "be brief", chain.Injection("be brief")},
		"a long text is cut":                {"prompt:submit", strings.Repeat("ä", 20000), chain.Injection(strings.Repeat("ä", 10000))},
		"text that is no UTF-8":             {"prompt:submit", "a\xff", chain.Injection("a�")},
		"defer asks":                        {"tool:pre", pre(`"permissionDecision":"defer","permissionDecisionReason":"wait"`), chain.Question("wait")},
		"an approval request without words": {"tool:pre", pre(`"permissionDecision":"ask"`), chain.Question("Allow Bash: ls?")},
		"ask and change at once deny": {
			"tool:pre", pre(`"permissionDecision":"ask","permissionDecisionReason":"sure?","updatedInput":{}`),
			chain.Denial("The hook wants a person to be asked about an input that it changes at once, which can't be done.\nsure?"),
		},
		"a change without a decision": {"tool:pre", pre(`"updatedInput":{"command":"ls -l"}`), chain.Result{
			Action: chain.Modify, Data: json.RawMessage(`{"tool_name":"Bash","tool_input":{"command":"ls -l"}}`),
		}},
		"a change with context": {"tool:pre", pre(`"permissionDecision":"allow","updatedInput":{},"additionalContext":"was dangerous"`), chain.Result{
			Action: chain.Modify, Data: json.RawMessage(`{"tool_name":"Bash","tool_input":{}}`), Reason: "was dangerous",
		}},
		"a denial does not change":     {"tool:pre", pre(`"permissionDecision":"deny","permissionDecisionReason":"no","updatedInput":{},"additionalContext":"ask Bo"`), chain.Denial("no\nask Bo")},
		"the new form over the old":    {"tool:pre", `{"decision":"approve","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}`, chain.Denial("")},
		"a change that is null":        {"tool:pre", pre(`"updatedInput":null`), chain.Result{}},
		"context":                      {"tool:pre", pre(`"additionalContext":"note"`), chain.Injection("note")},
		"a message to the user":        {"tool:pre", `{"systemMessage":"look"}`, warning("look")},
		"output is suppressed":         {"tool:pre", `{"suppressOutput":true}`, chain.Result{SuppressOutput: true}},
		"continue false wins":          {"tool:pre", `{"continue":false,"stopReason":"enough","decision":"approve","systemMessage":"m"}`, chain.Result{Action: chain.Deny, Reason: "enough", UserMessage: "enough\nm", UserMessageLevel: chain.LevelWarning}},
		"continue false lets it stop":  {"prompt:complete", `{"continue":false,"stopReason":"enough","decision":"block"}`, warning("enough")},
		"continue true says nothing":   {"tool:pre", `{"continue":true}`, chain.Result{}},
		"unknown members":              {"tool:pre", `{"async":true,"hookSpecificOutput":{"hookEventName":"PreToolUse","x":1}}`, chain.Result{}},
		"a block after the tool":       {"tool:post", `{"decision":"block","reason":"fix it"}`, chain.Injection("fix it")},
		"a block without words":        {"tool:post", `{"decision":"block"}`, chain.Result{}},
		"a block and a new output":     {"tool:post", `{"decision":"block","reason":"fix it","hookSpecificOutput":{"hookEventName":"PostToolUse","updatedMCPToolOutput":"x"}}`, chain.Result{Action: chain.Modify, Data: json.RawMessage(`{"tool_name":"Bash","tool_input":{"command":"ls"},"tool_result":"x"}`), Reason: "fix it"}},
		"a block where none can be":    {"user:notification", `{"decision":"block","reason":"r"}`, warning("r")},
		"a permission that is denied":  {"approval:required", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no"}}}`, chain.Denial("no")},
		"a permission that is granted": {"approval:required", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`, chain.Result{}},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := call(t, c.event, bash).Result([]byte(c.stdout))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("result of %s (-want +got):\n%s", c.stdout, diff)
			}
		})
	}
}

func TestOutputThatIsWrongIsAnError(t *testing.T) {
	for stdout, want := range map[string]string{
		`{"decision":"bl`:                 "begins like JSON and is not what a hook answers: ",
		`{} done`:                         "no JSON at byte",
		`{"decision":"deny!"}`:            `the decision "deny!" is not one that a hook for PreToolUse may make`,
		`{"decision":"block","reason":7}`: "reason is of the wrong type",
		`{"hookSpecificOutput":{"permissionDecision":"deny"}}`:                                  `hookSpecificOutput.hookEventName must be "PreToolUse" here, not ""`,
		`{"hookSpecificOutput":{"hookEventName":"PostToolUse"}}`:                                `hookSpecificOutput.hookEventName must be "PreToolUse" here, not "PostToolUse"`,
		`{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":"ls"}}`:             "updatedInput must be an object",
		`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"sure"}}`:     `the decision "sure"`,
		`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":["s3cret"]}}`: "hookSpecificOutput.permissionDecision is of the wrong type",
		`{"decision":"block","decision":"approve"}`:                                             "no JSON at byte",
	} {
		got, err := call(t, "tool:pre", bash).Result([]byte(stdout))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %+v, %v; want the error %s", stdout, got, err, want)
		}
	}
}

func TestBlocked(t *testing.T) {
	for event, want := range map[string]chain.Result{
		"tool:pre":            chain.Denial("why"),
		"prompt:submit":       chain.Denial("why"),
		"prompt:complete":     chain.Denial("why"),
		"agent:complete":      chain.Denial("why"),
		"context:pre_compact": chain.Denial("why"),
		"tool:post":           chain.Injection("why"),
		"tool:error":          chain.Injection("why"),
		"session:start":       {UserMessage: "why", UserMessageLevel: chain.LevelWarning},
		"approval:required":   {UserMessage: "why", UserMessageLevel: chain.LevelWarning},
		"user:notification":   {UserMessage: "why", UserMessageLevel: chain.LevelWarning},
	} {
		if diff := cmp.Diff(want, call(t, event, `{}`).Blocked([]byte("\nwhy\n"))); diff != "" {
			t.Errorf("%s blocked (-want +got):\n%s", event, diff)
		}
	}
	if got := call(t, "tool:pre", `{}`).Blocked(nil); !got.Denied() {
		t.Errorf("blocked without a reason: %+v", got)
	}
}

func TestMatcher(t *testing.T) {
	for _, c := range []struct {
		matcher, event, data string
		want                 bool
	}{
		{"", "tool:pre", bash, true},
		{"*", "tool:pre", bash, true},
		{"Bash", "tool:pre", bash, true},
		{"bash", "tool:pre", bash, false},
		{"Edit|Bash", "tool:pre", bash, true},
		{"Edit, Bash", "tool:pre", bash, true},
		{"Ba", "tool:pre", bash, false},
		{"Ba.*", "tool:pre", bash, true},
		{"as.", "tool:pre", bash, true},
		{"mcp__.*", "tool:pre", bash, false},
		{"mcp__memory__.*", "tool:pre", `{"tool_name":"mcp__memory__add"}`, true},
		{"Bash", "tool:pre", `{}`, true},
		{"resume", "session:start", `{"source":"startup"}`, false},
		{"resume", "session:resume", `{}`, true},
		{"idle_prompt", "user:notification", `{"notification_type":"awaiting_input"}`, true},
		{"auto", "context:pre_compact", `{"trigger":"manual"}`, false},
		{"reviewer", "agent:complete", `{"agent_name":"reviewer"}`, true},
		{"Bash", "prompt:submit", `{"prompt":"x"}`, true},
	} {
		m, err := claudescript.ParseMatcher(c.matcher)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Takes(call(t, c.event, c.data)); got != c.want {
			t.Errorf("%q takes %s %s: %v", c.matcher, c.event, c.data, got)
		}
	}
}

// FuzzResult gives a call arbitrary output. The answer is a valid result, a changed event is an
// object, and a denial by the script is never a continue.
func FuzzResult(f *testing.F) {
	for _, s := range []string{
		`{}`, `plain`, `{"decision":"block","reason":"x"}`, `{"continue":false,"stopReason":"x"}`,
		`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","updatedInput":{"a":1}}}`,
		`{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":[1]}}`, `{"hookSpecificOutput":null}`,
	} {
		f.Add([]byte(`{"tool_name":"Bash","tool_input":{}}`), []byte(s))
	}
	f.Fuzz(func(t *testing.T, data, stdout []byte) {
		for _, event := range []string{events.ToolPre, events.ToolPost, events.PromptSubmit, events.AgentComplete} {
			c, _, err := claudescript.CallOf(events.Event{ID: "e", Name: event, Data: data}, "/w")
			if err != nil {
				continue
			}
			if _, err := events.ParseEnvelope(c.Input()); err != nil {
				t.Errorf("input %s: %v", c.Input(), err)
			}
			got, err := c.Result(stdout)
			if err != nil {
				continue
			}
			if _, err := chain.ParseResult(got.Append(nil)); err != nil && !strings.Contains(err.Error(), "nests deeper") {
				t.Errorf("result %s: %v", got.Append(nil), err)
			}
			var said struct {
				Decision string `json:"decision"`
			}
			if event == events.PromptSubmit && jsonv2.Unmarshal(stdout, &said) == nil && said.Decision == "block" && !strings.Contains(string(stdout), "continue") && !got.Denied() {
				t.Errorf("%s does not deny: %+v", stdout, got)
			}
		}
	})
}

// Changing an input that is not a member of the data would have no effect.
func TestAnInputWithinACallCannotBeChanged(t *testing.T) {
	c := call(t, "tool:pre", `{"tool_call":{"name":"Bash","input":{"command":"ls"}}}`)
	_, err := c.Result([]byte(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"pwd"}}}`))
	if err == nil || !strings.Contains(err.Error(), "can't be put in place") {
		t.Errorf("error %v", err)
	}
}
