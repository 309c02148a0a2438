package hooktest_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"testing"

	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/hooktest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// noShell is the hook under test.
func noShell(_ context.Context, ev worker.Event) (worker.Result, error) {
	var d events.ToolPreData
	if err := ev.Decode(&d); err != nil {
		return worker.Result{}, err
	}
	if d.ToolName == "Bash" {
		return worker.Deny("no shell here")
	}
	return worker.Continue()
}

// A test of a hook on a real bus.
func ExampleStart() {
	test := func(t *testing.T) {
		bus := hooktest.Start(t)
		bus.Register(t, worker.Registration{ID: "no-shell", Events: []string{events.ToolPre}}, noShell)

		answer, err := bus.Agent(t, "s1").Emit(t.Context(), events.ToolPre, events.ToolPreData{ToolName: "Bash"})
		if err != nil {
			t.Fatal(err)
		}
		if !answer.Denied() || answer.DeniedBy != "no-shell" {
			t.Errorf("decided %+v", answer)
		}
	}
	fmt.Println(passes("TestNoShell", test))
	// Output: true
}

// A test that the hook survives whatever the wire may bring.
func ExampleValidateHandler() {
	test := func(t *testing.T) {
		reg := worker.Registration{ID: "no-shell", Events: []string{events.ToolPre}, OnFailure: chain.FailClosed}
		hooktest.ValidateHandler(t, reg, noShell)
	}
	fmt.Println(passes("TestNoShellKeepsTheContract", test))
	// Output: true
}

// A hook that answers what the test wrote down, and remembers its calls.
func ExampleScript() {
	hook := hooktest.Script(worker.Result{}, chain.Denial("enough"))

	var registry chain.Registry
	if _, err := registry.Register(chain.Registration{ID: "scripted", Events: []string{"tool:*"}}, hook.Handle); err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		result, err := registry.Emit(context.Background(), events.ToolPre, json.RawMessage(`{"tool_name":"Bash"}`))
		fmt.Println(result.Action, result.Reason, err)
	}
	fmt.Println(len(hook.Calls()), "calls")
	// Output:
	// continue  <nil>
	// deny enough <nil>
	// deny enough <nil>
	// 3 calls
}

// Waiting for what an agent does, without sleeping.
func ExampleBus_Record() {
	test := func(t *testing.T) {
		bus := hooktest.Start(t)
		recorder := bus.Record(t)
		go work(t.Context(), bus.Agent(t, "s1"))

		seen, err := recorder.WaitFor(t.Context(), func(r hooktest.Record) bool { return r.Event.Name == events.SessionEnd && r.Outcome != nil })
		if err != nil {
			t.Fatal(err)
		}
		if seen.Event.Session != "s1" || seen.Outcome.Action != chain.Continue {
			t.Errorf("saw %+v", seen)
		}
	}
	fmt.Println(passes("TestSessionEnds", test))
	// Output: true
}

// work is an agent's session.
func work(ctx context.Context, a *agent.Agent) {
	for _, event := range []string{events.SessionStart, events.SessionEnd} {
		if _, err := a.Emit(ctx, event, nil); err != nil {
			return
		}
	}
}

// passes runs a test inside of an example. It is silent unless the test fails:
// what go test -v tells of a test would be output of the example.
func passes(name string, test func(*testing.T)) bool {
	verbose := flag.Lookup("test.v").Value
	was := verbose.String()
	if err := verbose.Set("false"); err != nil {
		panic(err)
	}
	defer func() { _ = verbose.Set(was) }() // what it was set to before
	everything := func(_, _ string) (bool, error) { return true, nil }
	return testing.RunTests(everything, []testing.InternalTest{{Name: name, F: test}})
}

// Outside of a test: a bus that is closed by hand.
func ExampleNew() {
	ctx := context.Background()
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
	a, err := agent.New(client, agent.Options{Session: "s1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := a.Emit(ctx, events.PromptSubmit, events.PromptSubmitData{Prompt: "hello"})
	fmt.Println(answer.Action, answer.Hooks, err)
	// Output: continue 0 <nil>
}
