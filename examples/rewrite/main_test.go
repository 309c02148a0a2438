package main

import (
	"encoding/json"
	"testing"

	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hooktest"
)

func TestTheHookAnswersEveryEvent(t *testing.T) { hooktest.ValidateHandler(t, registration, pin) }

func TestNPMInstallBecomesNPMCI(t *testing.T) {
	bus := hooktest.Start(t)
	bus.Register(t, registration, pin)
	a := bus.Agent(t, "s1")
	for data, want := range map[string]string{
		`{"tool_name":"Bash","tool_input":{"command":"npm install","n":9007199254740993}}`: `{"command":"npm ci","n":9007199254740993}`,
		`{"tool_name":"Bash","tool_input":{"command":"npm install left-pad"}}`:             `{"command":"npm install left-pad"}`,
		`{"tool_name":"Read","tool_input":{"file_path":"a"}}`:                              `{"file_path":"a"}`,
	} {
		answer, err := a.Emit(t.Context(), events.ToolPre, json.RawMessage(data))
		var call events.ToolPreData
		if err != nil || answer.Decode(&call) != nil || string(call.ToolInput) != want {
			t.Errorf("%s became %s, %v; want the input %s", data, answer.Data, err, want)
		}
	}
	if answer, err := a.Emit(t.Context(), events.SessionStart, json.RawMessage("{}")); err != nil || answer.ContextInjection == "" {
		t.Errorf("a new session is told nothing: %+v, %v", answer, err)
	}
}
