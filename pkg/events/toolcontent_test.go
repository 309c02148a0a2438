package events_test

import (
	"testing"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Calls with the same content are the same call: what an agent can change in a call without
// changing its content, nobody is asked about again.
func TestToolContentIsTheSameForTheSameCall(t *testing.T) {
	t.Parallel()
	const bash = `{"tool_name":"Bash","tool_input":{"command":"ls -l","run_in_background":false},"cwd":"/repo"}`
	for name, c := range map[string]struct {
		a, b string
		same bool
	}{
		"members in another order, and white space":  {bash, `{ "cwd":"/repo", "tool_input":{"run_in_background" : false, "command":"ls -l"}, "tool_name":"Bash"}`, true},
		"an escaped letter":                          {bash, `{"tool_name":"Bash","tool_input":{"command":"\u006cs -l","run_in_background":false},"cwd":"/repo"}`, true},
		"what a shell is told beside":                {bash, `{"tool_name":"Bash","tool_input":{"command":"ls -l","run_in_background":false,"description":"Lists","timeout":5},"cwd":"/repo"}`, true},
		"what is not about the tool":                 {bash, `{"tool_name":"Bash","tool_input":{"command":"ls -l","run_in_background":false},"cwd":"/repo","timestamp":"t","tool_use_id":"7"}`, true},
		"another command":                            {bash, `{"tool_name":"Bash","tool_input":{"command":"rm -rf .","run_in_background":false},"cwd":"/repo"}`, false},
		"another directory":                          {bash, `{"tool_name":"Bash","tool_input":{"command":"ls -l","run_in_background":false},"cwd":"/"}`, false},
		"another tool":                               {bash, `{"tool_name":"PowerShell","tool_input":{"command":"ls -l","run_in_background":false},"cwd":"/repo"}`, false},
		"a member more":                              {bash, `{"tool_name":"Bash","tool_input":{"command":"ls -l","run_in_background":false,"dangerouslyDisableSandbox":true},"cwd":"/repo"}`, false},
		"a second input":                             {bash, `{"tool_name":"Bash","tool_input":{"command":"ls -l","run_in_background":false},"cwd":"/repo","args":{"command":"rm"}}`, false},
		"a name elsewhere and a second input inside": {`{"tool_call":{"name":"Bash","arguments":{"command":"ls"}}}`, `{"tool_call":{"name":"Bash","arguments":{"command":"ls"},"args":["-l"]}}`, false},
		"an input around a call":                     {`{"tool_call":{"name":"Bash","arguments":{"command":"ls"}},"tool_input":{"command":"ls"}}`, `{"tool_call":{"name":"Bash","arguments":{"command":"ls"}},"tool_input":{"command":"rm"}}`, false},
		"an input of an unknown name":                {`{"tool_name":"Deploy","params":{"target":"staging"}}`, `{"tool_name":"Deploy","params":{"target":"production"}}`, false},
		"no input":                                   {`{"tool_name":"mcp__a__list","tool_use_id":"1","timestamp":"t"}`, `{"tool_name":"mcp__a__list","tool_use_id":"2","timestamp":"u"}`, true},
		"the content of a file":                      {`{"tool_name":"Write","tool_input":{"file_path":"a","content":"x"}}`, `{"tool_name":"Write","tool_input":{"file_path":"a","content":"y"}}`, false},
		"a description that is no remark":            {`{"tool_name":"Task","tool_input":{"prompt":"a","description":"x"}}`, `{"tool_name":"Task","tool_input":{"prompt":"a","description":"y"}}`, false},
		"an argument of a tool of an MCP server":     {`{"tool_name":"mcp__bank__pay","tool_input":{"to":12345678901234567890}}`, `{"tool_name":"mcp__bank__pay","tool_input":{"to":12345678901234567891}}`, false},
		"an input as text":                           {`{"tool_name":"Bash","tool_input":"ls"}`, `{"tool_name":"Bash","tool_input":"rm"}`, false},
		"an answer to a question of an MCP server":   {`{"tool_name":"mcp__bank__pay","tool_input":{},"mcp_input_responses":{"q":{"to":"ann"}}}`, `{"tool_name":"mcp__bank__pay","tool_input":{},"mcp_input_responses":{"q":{"to":"eve"}}}`, false},
		"no answer to it":                            {`{"tool_name":"mcp__bank__pay","tool_input":{}}`, `{"tool_name":"mcp__bank__pay","tool_input":{},"mcp_input_responses":{"q":{"to":"eve"}}}`, false},
		"a server of Cursor by its command":          {`{"hook_event_name":"beforeMCPExecution","tool_name":"pay","tool_input":"{}","command":"npx bank"}`, `{"hook_event_name":"beforeMCPExecution","tool_name":"pay","tool_input":"{}","command":"npx evil"}`, false},
		"a server of Cursor by its address":          {`{"hook_event_name":"beforeMCPExecution","tool_name":"pay","tool_input":"{}","url":"https://bank.example"}`, `{"hook_event_name":"beforeMCPExecution","tool_name":"pay","tool_input":"{}","url":"https://evil.example"}`, false},
		"a server of Gemini CLI by its command":      {`{"tool_name":"mcp_bank_pay","tool_input":{},"mcp_context":{"server_name":"bank","tool_name":"pay","command":"npx bank"}}`, `{"tool_name":"mcp_bank_pay","tool_input":{},"mcp_context":{"server_name":"bank","tool_name":"pay","command":"npx evil"}}`, false},
		"a shell of Cursor":                          {`{"hook_event_name":"beforeShellExecution","command":"ls","generation_id":"1"}`, `{"hook_event_name":"beforeShellExecution","command":"ls","generation_id":"2"}`, true},
		"a shell of Cursor outside its sandbox":      {`{"hook_event_name":"beforeShellExecution","command":"ls","sandbox":true}`, `{"hook_event_name":"beforeShellExecution","command":"ls","sandbox":false}`, false},
		"another command of it":                      {`{"hook_event_name":"beforeShellExecution","command":"ls"}`, `{"hook_event_name":"beforeShellExecution","command":"rm"}`, false},
		"a change by Cursor":                         {`{"hook_event_name":"afterFileEdit","file_path":"a","edits":[1]}`, `{"hook_event_name":"afterFileEdit","file_path":"a","edits":[2]}`, false},
	} {
		a, b := content(t, "tool:pre", c.a), content(t, "tool:pre", c.b)
		if (a == b) != c.same {
			t.Errorf("%s: same is %v\n%s\n%s", name, a == b, a, b)
		}
	}
}

func TestEventsWithoutAToolHaveNoContent(t *testing.T) {
	t.Parallel()
	for event, data := range map[string]string{"prompt:submit": `{"name":"x","input":"y"}`, "approval:required": `{"prompt":"x"}`, "tool:pre": `{"operation":"a"}`} {
		if got, ok := object(t, data).ToolContent(event); ok {
			t.Errorf("%s %s has the content %s", event, data, got)
		}
	}
	if content(t, "deploy:start", `{"tool_name":"x","tool_input":{"a":1}}`) == content(t, "deploy:start", `{"tool_name":"x","tool_input":{"a":2}}`) {
		t.Error("the input of a tool in an event of another domain is no content")
	}
}

// What ToolContent leaves out is named, at the top of an input only.
func FuzzToolContent(f *testing.F) {
	f.Add(`{"tool_name":"Bash","tool_input":{"command":"ls"}}`, `{"tool_name":"Bash","tool_input":{"command":"rm"}}`)
	f.Add(`{"tool":{"name":"x","arguments":"{\"a\":1}"}}`, `{"tool":{"name":"x"}}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		first, err := events.ParseObject([]byte(a))
		if err != nil {
			t.Skip()
		}
		second, err := events.ParseObject([]byte(b))
		if err != nil {
			t.Skip()
		}
		x, _ := first.ToolContent("tool:pre")
		y, _ := second.ToolContent("tool:pre")
		one, _ := first.Tool("tool:pre")
		other, _ := second.Tool("tool:pre")
		if string(x) == string(y) && (one.Name != other.Name || one.Command != other.Command) {
			t.Errorf("%s and %s have the content %s", a, b, x)
		}
	})
}

func content(t *testing.T, event, data string) string {
	t.Helper()
	c, ok := object(t, data).ToolContent(event)
	if !ok {
		t.Errorf("%s %s has no content", event, data)
	}
	return string(c)
}

func object(t *testing.T, data string) events.Object {
	t.Helper()
	o, err := events.ParseObject([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return o
}
