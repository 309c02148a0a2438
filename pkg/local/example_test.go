package local_test

import (
	"context"
	"fmt"

	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/local"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// A program with a hook and a person of its own, and no bus.
func Example() {
	hooks := local.NewRegistry()
	push := chain.Registration{ID: "push", Events: []string{events.ToolPre}, Match: "data.tool_input.command.startsWith('git push')"}
	_, err := hooks.Register(push, func(context.Context, events.Event) (chain.Result, error) {
		return chain.Question("Push?", "Allow once", "Deny"), nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	session := local.NewSession(hooks, local.Options{ID: "s1", Ask: func(_ context.Context, asked approval.Record) (string, error) {
		fmt.Println(asked.Prompt, asked.Options)
		return "Deny", nil
	}})
	for _, command := range []string{"ls", "git push"} {
		call := map[string]any{"tool_name": "Bash", "tool_input": map[string]string{"command": command}}
		v, err := session.Execute(context.Background(), events.ToolPre, call)
		fmt.Println(command, v.Action == verdict.Continue, v.Reason, err)
	}
	// Output:
	// ls true  <nil>
	// Push? [Allow once Deny]
	// git push false User denied: Push? <nil>
}
