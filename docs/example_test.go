package docs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hooktest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// quiet shortens the output of git: a hook that changes what a tool gets.
func quiet(_ context.Context, ev worker.Event) (worker.Result, error) {
	data, err := events.ParseObject(ev.Data)
	if err != nil {
		return worker.Result{}, err
	}
	return worker.Modify(json.RawMessage(data.With("tool_input", []byte(`{"command":"git status -s"}`))))
}

// clock tells the model the time.
func clock(context.Context, worker.Event) (worker.Result, error) {
	return worker.Inject("It is " + time.Now().Format(time.RFC1123))
}

// careful asks a person, and sets what the short form leaves at its default.
func careful(_ context.Context, ev worker.Event) (worker.Result, error) {
	minute := 60.0
	return worker.Result{
		Action:          chain.AskUser,
		ApprovalPrompt:  "Deploy to production?",
		ApprovalOptions: []string{"Allow once", "Deny"},
		ApprovalTimeout: &minute,
		UserMessage:     "A deployment waits for you",
	}, nil
}

// status contributes to a channel.
func status(_ context.Context, channel string) (any, error) {
	return map[string]any{"channel": channel, "healthy": true}, nil
}

// watched is the hook of the testing chapter.
func watched(_ context.Context, ev worker.Event) (worker.Result, error) {
	if bytes.Contains(ev.Data, []byte("/etc/")) {
		return worker.Deny("not in /etc")
	}
	return worker.Continue()
}

func TestTheHookKeepsEtc(t *testing.T) {
	t.Parallel()
	bus := hooktest.Start(t)
	bus.Register(t, worker.Registration{ID: "etc", Events: []string{events.ToolPre}, OnFailure: chain.FailClosed}, watched)

	answer, err := bus.Agent(t, "s1").Emit(t.Context(), events.ToolPre, json.RawMessage(`{"tool_input":{"file_path":"/etc/hosts"}}`))
	if err != nil || answer.DeniedBy != "etc" {
		t.Errorf("decided %+v, %v", answer, err)
	}
}

func TestTheHookKeepsTheContract(t *testing.T) {
	hooktest.ValidateHandler(t, worker.Registration{ID: "etc", Events: []string{events.ToolPre}}, watched)
}

// TestTheOtherSnippetsRun runs the functions above and those of the agent's guide.
func TestTheOtherSnippetsRun(t *testing.T) {
	t.Parallel()
	ctx, bus := t.Context(), hooktest.Start(t)
	register := func(id, event string, hook worker.Handler) {
		bus.Register(t, worker.Registration{ID: id, Events: []string{event}}, hook)
	}
	register("quiet", "tool:pre", quiet)
	register("clock", "prompt:submit", clock)
	register("careful", "deploy:start", careful)
	w := bus.Worker(t)
	if err := contributor(ctx, w); err != nil {
		t.Fatal(err)
	}
	a := bus.Agent(t, "s1")
	for event, want := range map[string]chain.Action{
		"tool:pre": chain.Continue, "prompt:submit": chain.InjectContext, "deploy:start": chain.AskUser,
	} {
		answer, err := a.Emit(ctx, event, json.RawMessage(`{"tool_name":"Bash"}`))
		if err != nil || answer.Action != want {
			t.Errorf("%s: %+v %v", event, answer, err)
		}
	}
	if err := defaults(ctx, a); err != nil {
		t.Error(err)
	}
	if err := gather(ctx, a); err != nil {
		t.Error(err)
	}
	if err := retire(ctx, w); err != nil {
		t.Error(err)
	}
}

func contributor(ctx context.Context, w *worker.Worker) error {
	_, err := w.RegisterContributor(ctx, worker.Registration{ID: "deployer", Channels: []string{"observability.status"}}, status)
	return err
}

func retire(ctx context.Context, w *worker.Worker) error {
	return w.Retire(ctx, "no-rm-rf")
}

func defaults(ctx context.Context, a *agent.Agent) error {
	if err := a.SetDefaultFields(map[string]any{"agent": "coder", "user": "adam"}); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := a.Emit(ctx, events.PromptSubmit, events.PromptSubmitData{Prompt: "hello"})
	return err
}

func gather(ctx context.Context, a *agent.Agent) error {
	found, err := a.EmitAndCollect(ctx, "search:query", map[string]string{"query": "nats"}, 2*time.Second)
	if err != nil {
		return err
	}
	for i, value := range found.Values {
		fmt.Println(found.From[i], string(value))
	}
	states, err := a.CollectContributions(ctx, "observability.status", time.Second)
	if err != nil {
		return err
	}
	fmt.Println(len(states.Values), "answered,", len(states.Missing), "did not")
	return nil
}
