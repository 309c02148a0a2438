package agent_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// An agent gets a verdict that it only has to obey.
func ExampleAgent_Execute() {
	demo(func(ctx context.Context, client *hookrouter.Client) error {
		a, err := agent.New(client, agent.Options{Session: "s1"})
		if err != nil {
			return err
		}
		for _, tool := range []string{"Bash", "Read"} {
			x, err := a.Execute(ctx, events.ToolPre, events.ToolPreData{ToolName: tool})
			if err != nil {
				return err // nothing is permitted
			}
			if !x.Permitted() {
				fmt.Printf("%s: denied by %s: %s\n", tool, x.DeniedBy, x.Reason)
				continue
			}
			var d events.ToolPreData
			if err := x.Decode(&d); err != nil {
				return err
			}
			fmt.Printf("%s: run it\n", d.ToolName)
		}
		return nil
	})
	// Output:
	// Bash: denied by no-shell: no shell in this project
	// Read: run it
}

// A hook asks a person. Execute waits, whatever dies meanwhile.
func ExampleAgent_Execute_approval() {
	demo(func(ctx context.Context, client *hookrouter.Client) error {
		a, err := agent.New(client, agent.Options{Session: "s1", OnPending: func(q verdict.Approval) {
			fmt.Println("a person is asked:", q.Prompt)
			// This is the person, who has `hookctl approvals` or the console.
			_, _ = client.Conn().Request("hooks.approve."+q.ID, []byte(`{"option":"Allow once","by":"adam"}`), time.Second)
		}})
		if err != nil {
			return err
		}
		x, err := a.Execute(ctx, "deploy:start", map[string]string{"target": "production"})
		if err != nil {
			return err
		}
		fmt.Println(x.Action, x.Approval.Option)
		return nil
	})
	// Output:
	// a person is asked: Deploy to production?
	// continue Allow once
}

// A session delivers what hooks want said: to the model and to the user.
func ExampleSession() {
	demo(func(ctx context.Context, client *hookrouter.Client) error {
		a, err := agent.New(client, agent.Options{})
		if err != nil {
			return err
		}
		memory := &agent.MemoryContext{}
		session, err := agent.NewSession(a, agent.SessionOptions{
			ID: "s1", Context: memory, Display: agent.NewTerminalDisplay(os.Stdout),
		})
		if err != nil {
			return err
		}
		const prompt = "Tidy main.go"
		x, err := session.Execute(ctx, events.PromptSubmit, events.PromptSubmitData{Prompt: prompt})
		if err != nil || !x.Permitted() {
			return err
		}
		if err := memory.AddMessage(ctx, agent.Message{Role: "user", Content: prompt}); err != nil {
			return err
		}
		call, err := session.NextCall(ctx)
		for _, m := range call {
			fmt.Printf("%s: %s\n", m.Role, m.Content)
		}
		return err
	})
	// Output:
	// [info] hook:style: the style guide was added
	// system: Use tabs.
	// user: Tidy main.go
}

// What a hook says is foreign text.
func ExampleTerminalDisplay() {
	display := agent.NewTerminalDisplay(os.Stdout)
	err := display.Show(context.Background(), verdict.Display{
		Message: "read the log\n[info] hook:other: \x1b[32mall is well", Level: "warning", Source: "hook:H",
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// [warning] hook:H: read the log
	//     [info] hook:other: \x1b[32mall is well
}
