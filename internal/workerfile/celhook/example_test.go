package celhook_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/workerfile/celhook"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func Example() {
	reason := "Access denied: {{ data.tool_input.file_path }} is protected"
	guard, err := celhook.Build(kind.Section{}, celhook.Config{Rules: []celhook.Rule{
		{When: "data.tool_input.file_path.startsWith('/etc/')", Deny: &reason},
		{Modify: &celhook.Modify{Set: map[string]celhook.Source{"tool_input.file_path": "'/srv' + data.tool_input.file_path"}}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, file := range []string{"/etc/passwd", "/notes"} {
		result, err := guard.Handler(context.Background(), events.Event{
			Name: events.ToolPre,
			Data: json.RawMessage(`{"tool_input":{"file_path":"` + file + `"},"id":9007199254740993}`),
		})
		fmt.Println(result.Action, result.Reason, string(result.Data), err)
	}
	// Output:
	// deny Access denied: /etc/passwd is protected  <nil>
	// modify  {"tool_input":{"file_path":"/srv/notes"},"id":9007199254740993} <nil>
}
