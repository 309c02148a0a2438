package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/hooktest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// demo runs an example on a bus of its own, with a client of it.
func demo(example func(ctx context.Context, client *hookrouter.Client) error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	bus, err := hooktest.New(ctx, hooktest.Options{Listen: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := hookrouter.Connect(ctx, hookrouter.Options{URL: bus.URL()})
	if err == nil {
		err = example(ctx, client)
		client.Close()
	}
	if err != nil {
		fmt.Println(err)
	}
	if err := bus.Close(); err != nil {
		fmt.Println(err)
	}
}

// ask emits one event, as an agent does, and prints the answer.
func ask(ctx context.Context, client *hookrouter.Client, data events.ToolPreData) error {
	a, err := agent.New(client, agent.Options{Session: "s1"})
	if err != nil {
		return err
	}
	answer, err := a.Emit(ctx, events.ToolPre, data)
	if err != nil {
		return err
	}
	fmt.Println(strings.TrimSpace(fmt.Sprintf("%s: %s %s", data.ToolName, answer.Action, answer.Reason)))
	return nil
}

// A hook in a few lines: tools that write are announced to the user.
func ExampleWorker_Register() {
	demo(func(ctx context.Context, client *hookrouter.Client) error {
		w, err := worker.New(client, worker.Options{})
		if err != nil {
			return err
		}
		defer func() { _ = w.Close(ctx) }()

		announce := func(_ context.Context, ev worker.Event) (worker.Result, error) {
			var d events.ToolPreData
			if err := ev.Decode(&d); err != nil {
				return worker.Result{}, err
			}
			fmt.Println("about to run", d.ToolName)
			return worker.Continue()
		}
		reg := worker.Registration{ID: "announce", Events: []string{events.ToolPre}, Match: "data.tool_name in ['Write', 'Edit']"}
		if _, err := w.Register(ctx, reg, announce); err != nil {
			return err
		}

		for _, tool := range []string{"Read", "Write"} {
			if err := ask(ctx, client, events.ToolPreData{ToolName: tool}); err != nil {
				return err
			}
		}
		return nil
	})
	// Output:
	// Read: continue
	// about to run Write
	// Write: continue
}

// A guard denies what is dangerous, and stays closed when nobody answers for it.
func ExampleWorker_Register_guard() {
	demo(func(ctx context.Context, client *hookrouter.Client) error {
		w, err := worker.New(client, worker.Options{})
		if err != nil {
			return err
		}
		reg := worker.Registration{
			ID: "no-shell", Events: []string{events.ToolPre}, Match: "data.tool_name == 'Bash'",
			Priority: -10, TimeoutMS: 1000, OnFailure: chain.FailClosed,
		}
		_, err = w.Register(ctx, reg, func(context.Context, worker.Event) (worker.Result, error) {
			return worker.Deny("no shell in this project")
		})
		if err != nil {
			return err
		}
		bash := events.ToolPreData{ToolName: "Bash", ToolInput: json.RawMessage(`{"command":"rm -rf /"}`)}
		if err := ask(ctx, client, bash); err != nil {
			return err
		}
		if err := w.Close(ctx); err != nil { // its last worker goes
			return err
		}
		return ask(ctx, client, bash)
	})
	// Output:
	// Bash: deny no shell in this project
	// Bash: deny hook "no-shell" failed (no_responder) and its on_failure is deny
}

// A rule is made stricter while agents work: no call is missed meanwhile.
func ExampleWorker_Update() {
	demo(func(ctx context.Context, client *hookrouter.Client) error {
		w, err := worker.New(client, worker.Options{})
		if err != nil {
			return err
		}
		defer func() { _ = w.Close(ctx) }()
		reg := worker.Registration{ID: "freeze", Events: []string{events.ToolPre}, Match: "data.tool_name == 'Bash'"}
		_, err = w.Register(ctx, reg, func(context.Context, worker.Event) (worker.Result, error) { return worker.Deny("not today") })
		if err != nil {
			return err
		}
		edit := events.ToolPreData{ToolName: "Edit"}
		if err := ask(ctx, client, edit); err != nil {
			return err
		}
		reg.Match = ""
		undo, err := w.Update(ctx, reg)
		if err != nil {
			return err
		}
		if err := ask(ctx, client, edit); err != nil {
			return err
		}
		if err := undo(ctx); err != nil {
			return err
		}
		return ask(ctx, client, edit)
	})
	// Output:
	// Edit: continue
	// Edit: deny not today
	// Edit: continue
}

// A contributor gives a value whenever somebody collects its channel.
func ExampleWorker_RegisterContributor() {
	demo(func(ctx context.Context, client *hookrouter.Client) error {
		w, err := worker.New(client, worker.Options{})
		if err != nil {
			return err
		}
		defer func() { _ = w.Close(ctx) }()
		reg := worker.Registration{ID: "disk-events", Channels: []string{"observability.events"}}
		_, err = w.RegisterContributor(ctx, reg, func(context.Context, string) (any, error) {
			return []string{"disk:full", "disk:slow"}, nil
		})
		if err != nil {
			return err
		}

		a, err := agent.New(client, agent.Options{})
		if err != nil {
			return err
		}
		got, err := a.CollectContributions(ctx, "observability.events", time.Second)
		for i, value := range got.Values {
			fmt.Println(got.From[i], string(value))
		}
		return err
	})
	// Output: disk-events ["disk:full","disk:slow"]
}
