package exechook_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/workerfile/exechook"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func Example() {
	noSudo, err := exechook.New(exechook.Config{
		Command: []string{"sh", "-c", `if grep -q '"command":"sudo '; then echo '{"action":"deny","reason":"no sudo here"}'; fi`},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, command := range []string{"sudo reboot", "ls"} {
		result, err := noSudo(context.Background(), events.Event{
			ID: "e1", Name: events.ToolPre,
			Data: json.RawMessage(`{"tool_input":{"command":"` + command + `"}}`),
		})
		fmt.Printf("%s: denied=%v %s %v\n", command, result.Denied(), result.Reason, err)
	}
	// Output:
	// sudo reboot: denied=true no sudo here <nil>
	// ls: denied=false  <nil>
}
