package events_test

import (
	"encoding/json"
	"fmt"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// A hook reads the data of an event into the type of that event.
func ExampleEvent_Decode() {
	ev := events.Event{Name: events.ToolPre, Data: json.RawMessage(
		`{"session_id":"s1","tool_name":"Bash","tool_input":{"command":"ls","id":9007199254740993}}`)}
	var d events.ToolPreData
	if err := ev.Decode(&d); err != nil {
		fmt.Println(err)
		return
	}
	var input struct {
		Command string `json:"command"`
	}
	if err := d.DecodeInput(&input); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.SessionID, d.ToolName, input.Command)
	fmt.Println(string(d.ToolInput))
	// Output:
	// s1 Bash ls
	// {"command":"ls","id":9007199254740993}
}

// Three agents want to run the same command.
func ExampleToolOf() {
	for _, data := range []string{
		`{"tool_name":"Bash","tool_input":{"command":"rm -rf build"},"cwd":"/p"}`,
		`{"tool_name":"shell","tool_input":{"command":["bash","-lc","rm -rf build"],"workdir":"/p"}}`,
		`{"tool_name":"run_shell_command","tool_input":{"command":"rm -rf build"},"cwd":"/p"}`,
	} {
		tool, _ := events.ToolOf(events.ToolPre, []byte(data))
		fmt.Println(tool.Name+":", tool.Class, tool.Command, tool.Cwd)
	}
	// Output:
	// Bash: shell rm -rf build /p
	// shell: shell rm -rf build /p
	// run_shell_command: shell rm -rf build /p
}

// A tool that nobody knows may be a shell, or anything else: a guard can tell.
func ExampleTool() {
	for _, data := range []string{
		`{"tool_name":"Read","tool_input":{"file_path":"/etc/passwd"}}`,
		`{"tool_name":"ssh","tool_input":{"command":"reboot"}}`,
		`{"tool_name":"launch","tool_input":{"target":"moon"}}`,
	} {
		tool, _ := events.ToolOf(events.ToolPre, []byte(data))
		fmt.Println(tool.Name+":", tool.Class, tool.Known)
	}
	// Output:
	// Read: file true
	// ssh: shell false
	// launch: other false
}

// Aliases are the same event, and a domain pattern gets either spelling.
func ExampleMatch() {
	fmt.Println(events.Match("tool:*", "tool:pre"))
	fmt.Println(events.Match("error:tool", "tool:error"))
	fmt.Println(events.Match("error:*", "tool:error"))
	fmt.Println(events.Match("tool:*", "tools:pre"))
	// Output:
	// true
	// true
	// true
	// false
}

// Data of an event goes over default fields; nobody's bytes change.
func ExampleObject_Over() {
	defaults, err := events.ParseObject([]byte(`{"user":"adam", "env":"prod"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	data, err := events.ParseObject([]byte(`{"user":null, "id" : 9007199254740993}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", data.Over(defaults, "2026-01-02T03:04:05Z"))
	// Output: {"env":"prod","user":null,"id" : 9007199254740993,"timestamp":"2026-01-02T03:04:05Z"}
}

// A hook that changes one member keeps the bytes of the others.
func ExampleObject_With() {
	data, err := events.ParseObject([]byte(`{"tool_name":"Bash", "id":9007199254740993}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", data.With("tool_name", []byte(`"Read"`)))
	// Output: {"tool_name":"Read", "id":9007199254740993}
}

func ExampleCatalog() {
	for _, info := range events.Catalog()[:3] {
		fmt.Println(info.Name+":", info.Summary)
	}
	// Output:
	// agent:complete: A sub-agent is done.
	// agent:spawn: A sub-agent is about to start.
	// approval:denied: An approval has been denied.
}

func ExampleSchema() {
	schema, _ := events.Schema("prompt:submit")
	fmt.Printf("%s\n", schema)
	// Output:
	// {
	//   "$schema": "https://json-schema.org/draft/2020-12/schema",
	//   "title": "prompt:submit",
	//   "description": "The user submits a prompt, before the agent processes it.",
	//   "type": "object",
	//   "properties": {
	//     "metadata": {
	//       "description": "Optional metadata of the prompt",
	//       "type": "object",
	//       "additionalProperties": true
	//     },
	//     "prompt": {
	//       "description": "The user's text",
	//       "type": "string"
	//     },
	//     "session_id": {
	//       "description": "The session the event belongs to",
	//       "type": "string"
	//     },
	//     "timestamp": {
	//       "description": "RFC 3339 in UTC, stamped by the router",
	//       "type": "string",
	//       "format": "date-time"
	//     }
	//   },
	//   "additionalProperties": true
	// }
}
