// Command agent is the agent of the README: it asks the hooks before it runs a
// tool, and obeys. There is no model in it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

// run asks for two tools.
func run(ctx context.Context, out io.Writer) error {
	client, err := hookrouter.Connect(ctx, hookrouter.Options{URL: os.Getenv("NATS_URL")})
	if err != nil {
		return err
	}
	defer client.Close()
	a, err := agent.New(client, agent.Options{
		OnPending: func(q verdict.Approval) { fmt.Fprintln(out, "waiting for a person:", q.Prompt) },
	})
	if err != nil {
		return err
	}
	s, err := agent.NewSession(a, agent.SessionOptions{ID: "s1", Context: &agent.MemoryContext{}, Display: agent.NewTerminalDisplay(out)})
	if err != nil {
		return err
	}
	for _, command := range []string{"git status", "rm -rf /"} {
		input, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			return err
		}
		call, err := mayRun(ctx, s, events.ToolPreData{ToolName: "Bash", ToolInput: input})
		if err != nil {
			fmt.Fprintf(out, "%s: %v\n", command, err)
			continue
		}
		fmt.Fprintf(out, "%s: runs with %s\n", command, call.ToolInput)
	}
	return nil
}

// mayRun has the hooks decide whether a tool may run, and returns what it may run
// with.
func mayRun(ctx context.Context, s *agent.Session, call events.ToolPreData) (events.ToolPreData, error) {
	x, err := s.Execute(ctx, events.ToolPre, call)
	if err != nil {
		return call, fmt.Errorf("nobody could decide, so it does not run: %w", err)
	}
	if !x.Permitted() {
		return call, fmt.Errorf("denied: %s", x.Reason)
	}
	var allowed events.ToolPreData
	err = x.Decode(&allowed)
	return allowed, err
}
