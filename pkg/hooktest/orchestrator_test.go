package hooktest_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hooktest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func TestAScriptedTurn(t *testing.T) {
	b := hooktest.Start(t)
	message := chain.Injection("be careful")
	message.UserMessage = "look"
	b.Register(t, worker.Registration{ID: "tells", Events: []string{events.PromptSubmit}}, hooktest.Script(message).Handle)
	b.Register(t, worker.Registration{ID: "asks", Events: []string{events.ToolPre}}, func(context.Context, worker.Event) (worker.Result, error) {
		return worker.Ask("May it run?")
	})
	people := b.Approve(t, "Allow", "Deny")
	display, memory := &hooktest.FakeDisplay{}, &hooktest.FakeContext{}
	session, err := agent.NewSession(b.Agent(t, "s1"), agent.SessionOptions{Display: display, Context: memory})
	if err != nil {
		t.Fatal(err)
	}
	call := &agent.ToolCall{Name: "Bash", Input: map[string]string{"command": "ls"}}
	o := &hooktest.ScriptedOrchestrator{
		Session: session, Steps: []hooktest.Step{{Call: call}, {Text: "listed"}, {Call: call}, {Call: call}},
		Tools: map[string]agent.Tool{"Bash": func(context.Context, json.RawMessage) (any, error) { return "files", nil }},
	}
	text, err := o.Turn(t.Context(), "list")
	if err != nil || text != "listed" || !slices.Equal(o.Results, []string{`"files"`}) {
		t.Fatalf("%q %q, %v", text, o.Results, err)
	}
	for _, want := range []string{"the second answer is no", "no answer is left"} {
		_, err = o.Turn(t.Context(), "again")
		if denied, ok := errors.AsType[*agent.DeniedError](err); !ok || denied.Event != events.ToolPre {
			t.Errorf("%s: %v", want, err)
		}
	}
	if requests := people.Requests(); len(requests) != 3 || requests[0].Prompt != "May it run?" {
		t.Errorf("requests %+v", requests)
	}
	if shown := display.Shown(); len(shown) != 3 || shown[0].Message != "look" {
		t.Errorf("shown %+v", shown)
	}
	messages, err := memory.Messages(t.Context())
	if err != nil || len(messages) != 3 || messages[0].Content != "be careful" {
		t.Errorf("messages %+v, %v", messages, err)
	}
	memory.Err = errors.New("full")
	if err := memory.AddMessage(t.Context(), agent.Message{}); !errors.Is(err, memory.Err) {
		t.Error(err)
	}
}
