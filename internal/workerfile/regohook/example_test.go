package regohook_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/regohook"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func Example() {
	hook, err := regohook.New(kind.Section{}, regohook.Config{Policy: `
package hooks

deny contains "no sudo here" if startswith(input.tool.command, "sudo ")
`})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, command := range []string{"sudo reboot", "ls"} {
		result, err := hook.Handler(context.Background(), events.Event{
			ID: "e1", Name: events.ToolPre,
			Data: json.RawMessage(`{"tool_name":"Bash","tool_input":{"command":"` + command + `"}}`),
		})
		fmt.Printf("%s: denied=%v %s %v\n", command, result.Denied(), result.Reason, err)
	}
	// Output:
	// sudo reboot: denied=true no sudo here <nil>
	// ls: denied=false  <nil>
}
