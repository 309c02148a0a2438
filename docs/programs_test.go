package docs_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hooktest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// tutored are the programs of the tutorial, which are small: they are tested here, since a test
// beside each of them would be linked with a router of its own.
var tutored = []string{"examples/guard", "examples/agent"}

// tutorial makes a command that runs a program of the tutorial on a bus.
func tutorial(t *testing.T, bus *hooktest.Bus, program string) *exec.Cmd {
	t.Helper()
	if !slices.Contains(tutored, program) {
		t.Fatalf("%s is not of the tutorial", program)
	}
	cmd := exec.CommandContext(t.Context(), testkit.Program(t, program))
	cmd.Env = append(os.Environ(), "NATS_URL="+bus.URL())
	return cmd
}

func TestTheGuardOfTheTutorial(t *testing.T) {
	t.Parallel()
	bus := hooktest.Start(t, hooktest.Options{Listen: true})
	guard, said := tutorial(t, bus, "examples/guard"), &seen{text: "registered", found: make(chan struct{})}
	guard.Stderr = said
	if err := guard.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- guard.Wait() }()
	select {
	case <-said.found:
	case err := <-done:
		t.Fatalf("it ended: %v\n%s", err, &said.all)
	}

	a := bus.Agent(t, "s1")
	for command, denied := range map[string]bool{`{"command":"rm -rf /"}`: true, `{"command":"ls"}`: false} {
		call := events.ToolPreData{ToolName: "Bash", ToolInput: json.RawMessage(command)}
		answer, err := a.Emit(t.Context(), events.ToolPre, call)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Hooks != 1 || answer.Denied() != denied {
			t.Errorf("%s: %+v", command, answer)
		}
	}
	if err := guard.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := testkit.Receive(t, "the guard ends", done); err != nil {
		t.Errorf("%v\n%s", err, &said.all)
	}
}

func TestTheAgentOfTheTutorialObeys(t *testing.T) {
	t.Parallel()
	bus := hooktest.Start(t, hooktest.Options{Listen: true})
	quieter := func(_ context.Context, ev worker.Event) (worker.Result, error) {
		data, err := events.ParseObject(ev.Data)
		if err != nil {
			return worker.Result{}, err
		}
		return worker.Modify(json.RawMessage(data.With("tool_input", []byte(`{"command":"git status -s"}`))))
	}
	hook := hooktest.ScriptFunc(quieter, func(context.Context, worker.Event) (worker.Result, error) { return worker.Deny("no") })
	bus.Register(t, worker.Registration{ID: "scripted", Events: []string{events.ToolPre}, OnFailure: chain.FailClosed}, hook.Handle)
	out, err := tutorial(t, bus, "examples/agent").Output()
	want := "git status: runs with {\"command\":\"git status -s\"}\nrm -rf /: denied: no\n"
	if err != nil || string(out) != want {
		t.Errorf("got %q, %v; want %q", out, err, want)
	}
}
