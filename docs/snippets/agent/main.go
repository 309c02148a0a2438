// Command agent is the agent of the README: it asks the hooks before it runs a
// tool, and obeys. There is no model in it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

// run asks for two tools.
func run(ctx context.Context, out io.Writer) error {
	a, err := agent.Connect(ctx, agent.Options{URL: os.Getenv("NATS_URL"), Session: "s1"})
	if err != nil {
		return err
	}
	defer a.Close()
	for _, command := range []string{"git status", "rm -rf /"} {
		input, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			return err
		}
		call, err := mayRun(ctx, a, events.ToolPreData{ToolName: "Bash", ToolInput: input})
		if err != nil {
			fmt.Fprintf(out, "%s: %v\n", command, err)
			continue
		}
		fmt.Fprintf(out, "%s: runs with %s\n", command, call.ToolInput)
	}
	return nil
}

// mayRun asks the hooks whether a tool may run, and returns what it may run with.
func mayRun(ctx context.Context, a *agent.Agent, call events.ToolPreData) (events.ToolPreData, error) {
	answer, err := a.Emit(ctx, events.ToolPre, call)
	if err != nil {
		return call, fmt.Errorf("nobody could decide, so it does not run: %w", err)
	}
	switch answer.Action {
	case chain.Deny:
		return call, fmt.Errorf("denied by %s: %s", answer.DeniedBy, answer.Reason)
	case chain.AskUser:
		if !confirmed(answer.Result) {
			return call, errors.New("the user said no")
		}
	case chain.InjectContext:
		remember(answer.ContextInjectionRole, answer.ContextInjection)
	case chain.Continue, chain.Modify:
	}
	var allowed events.ToolPreData
	err = answer.Decode(&allowed)
	return allowed, err
}

// confirmed asks the user. This agent has none, so the answer is no.
func confirmed(chain.Result) bool { return false }

// remember adds a message to the model's context.
func remember(chain.Role, string) {}
