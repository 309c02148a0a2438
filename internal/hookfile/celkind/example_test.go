package celkind_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/hookfile/celkind"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func Example() {
	reason := "Access denied: {{ data.tool_input.file_path }} is protected"
	guard, err := celkind.New(celkind.Config{Rules: []celkind.Rule{
		{When: "data.tool_input.file_path.startsWith('/etc/')", Deny: &reason},
		{Modify: &celkind.Modify{Set: map[string]celkind.Source{"tool_input.file_path": "'/srv' + data.tool_input.file_path"}}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, file := range []string{"/etc/passwd", "/notes"} {
		result, err := guard(context.Background(), events.Event{
			Name: events.ToolPre,
			Data: json.RawMessage(`{"tool_input":{"file_path":"` + file + `"},"id":9007199254740993}`),
		})
		fmt.Println(result.Action, result.Reason, string(result.Data), err)
	}
	// Output:
	// deny Access denied: /etc/passwd is protected  <nil>
	// modify  {"tool_input":{"file_path":"/srv/notes"},"id":9007199254740993} <nil>
}
