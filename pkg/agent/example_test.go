package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/hooktest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// demo runs an example on a bus of its own with a few hooks.
func demo(example func(ctx context.Context, client *hookrouter.Client) error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	bus, err := hooktest.New(ctx, hooktest.Options{Listen: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer bus.Close()
	client, err := hookrouter.Connect(ctx, hookrouter.Options{URL: bus.URL()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	w, err := worker.New(client, worker.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = w.Close(ctx) }()
	for _, hook := range []struct {
		reg     worker.Registration
		handler worker.Handler
	}{
		{
			worker.Registration{ID: "no-shell", Events: []string{events.ToolPre}, Match: "data.tool_name == 'Bash'", OnFailure: chain.FailClosed},
			hooktest.Script(chain.Denial("no shell in this project")).Handle,
		},
		{
			worker.Registration{ID: "echo", Events: []string{"tool:*"}, Priority: 10},
			func(_ context.Context, ev worker.Event) (worker.Result, error) {
				var d struct{ Team string }
				if err := ev.Decode(&d); err != nil {
					return worker.Result{}, err
				}
				return chain.Result{Data: json.RawMessage(`{"calls":1}`), UserMessage: d.Team}, nil
			},
		},
		{
			worker.Registration{ID: "careful", Events: []string{"deploy:start"}, OnFailure: chain.FailClosed},
			hooktest.Script(chain.Result{Action: chain.AskUser, ApprovalPrompt: "Deploy to production?", ApprovalOptions: []string{"Allow once", "Deny"}}).Handle,
		},
		{
			worker.Registration{ID: "style", Events: []string{events.PromptSubmit}},
			hooktest.Script(chain.Result{Action: chain.InjectContext, ContextInjection: "Use tabs.", UserMessage: "the style guide was added"}).Handle,
		},
	} {
		if _, err := w.Register(ctx, hook.reg, hook.handler); err != nil {
			fmt.Println(err)
			return
		}
	}
	_, err = w.RegisterContributor(ctx, worker.Registration{ID: "prompts", Channels: []string{"system.prompt"}},
		func(context.Context, string) (any, error) { return "Be brief.", nil })
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := example(ctx, client); err != nil {
		fmt.Println(err)
	}
}

// An agent asks before it runs a tool.
func ExampleAgent_Emit() {
	demo(func(ctx context.Context, client *hookrouter.Client) error {
		a, err := agent.New(client, agent.Options{Session: "s1"})
		if err != nil {
			return err
		}
		for _, tool := range []string{"Bash", "Read"} {
			answer, err := a.Emit(ctx, events.ToolPre, events.ToolPreData{ToolName: tool})
			if err != nil {
				return err // nothing was decided: do not run the tool
			}
			if answer.Denied() {
				fmt.Printf("%s: denied by %s: %s\n", tool, answer.DeniedBy, answer.Reason)
				continue
			}
			var d events.ToolPreData
			if err := answer.Decode(&d); err != nil {
				return err
			}
			fmt.Printf("%s: run it; %d hook was asked\n", d.ToolName, answer.Hooks)
		}
		return nil
	})
	// Output:
	// Bash: denied by no-shell: no shell in this project
	// Read: run it; 1 hook was asked
}

// All hooks of an event are asked at the same time for what they have.
func ExampleAgent_EmitAndCollect() {
	demo(func(ctx context.Context, client *hookrouter.Client) error {
		a, err := agent.New(client, agent.Options{Session: "s1"})
		if err != nil {
			return err
		}
		got, err := a.EmitAndCollect(ctx, events.ToolPost, events.ToolPostData{ToolName: "Read"}, time.Second)
		for i, data := range got.Values {
			fmt.Println(got.From[i], string(data))
		}
		return err
	})
	// Output: echo {"calls":1}
}

func ExampleAgent_CollectContributions() {
	demo(func(ctx context.Context, client *hookrouter.Client) error {
		a, err := agent.New(client, agent.Options{})
		if err != nil {
			return err
		}
		got, err := a.CollectContributions(ctx, "system.prompt", time.Second)
		for i, value := range got.Values {
			fmt.Println(got.From[i], string(value))
		}
		return err
	})
	// Output: prompts "Be brief."
}

func ExampleAgent_ListHandlers() {
	demo(func(ctx context.Context, client *hookrouter.Client) error {
		a, err := agent.New(client, agent.Options{})
		if err != nil {
			return err
		}
		handlers, err := a.ListHandlers(ctx, "")
		fmt.Println(handlers)
		return err
	})
	// Output: map[deploy:start:[careful] prompt:submit:[style] tool:*:[echo] tool:pre:[no-shell]]
}

// Which hooks would run, and why not; none is called.
func ExampleAgent_Explain() {
	demo(func(ctx context.Context, client *hookrouter.Client) error {
		a, err := agent.New(client, agent.Options{})
		if err != nil {
			return err
		}
		hooks, err := a.Explain(ctx, events.ToolPre, events.ToolPreData{ToolName: "Read"})
		for _, h := range hooks {
			fmt.Println(h.ID, "called:", h.Matches, "on failure:", h.OnFailure)
		}
		return err
	})
	// Output:
	// no-shell called: false on failure: deny
	// echo called: true on failure: continue
}

// Fields that every hook gets, unless the event brings its own.
func ExampleAgent_SetDefaultFields() {
	demo(func(ctx context.Context, client *hookrouter.Client) error {
		a, err := agent.New(client, agent.Options{Session: "s1"})
		if err != nil {
			return err
		}
		if err := a.SetDefaultFields(map[string]any{"team": "Müller", "env": "prod"}); err != nil {
			return err
		}
		answer, err := a.Emit(ctx, events.ToolPost, map[string]any{"env": "test"})
		if err != nil {
			return err
		}
		var d struct {
			SessionID string `json:"session_id"`
			Team      string `json:"team"`
			Env       string `json:"env"`
		}
		if err := answer.Decode(&d); err != nil {
			return err
		}
		fmt.Println(d.SessionID, d.Team, d.Env)
		return nil
	})
	// Output: s1 Müller test
}
