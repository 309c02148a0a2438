package claudescript_test

import (
	"encoding/json"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/workerfile/claudescript"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func Example() {
	call, ok, err := claudescript.CallOf(events.Event{
		ID: "e1", Name: events.ToolPre, Session: "s1",
		Data: json.RawMessage(`{"tool_name":"Bash","tool_input":{"command":"rm -rf /"}}`),
	}, "/project")
	if err != nil || !ok {
		fmt.Println(ok, err)
		return
	}
	fmt.Printf("%s", call.Input())
	result := call.Blocked([]byte("not here\n"))
	fmt.Println(result.Action, result.Reason)
	// Output:
	// {"session_id":"s1","transcript_path":"","cwd":"/project","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf /"},"tool_use_id":"e1"}
	// deny not here
}
