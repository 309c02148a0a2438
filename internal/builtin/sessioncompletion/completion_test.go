package sessioncompletion_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/builtin/sessioncompletion"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func TestTheUserHearsHowItWent(t *testing.T) {
	t.Parallel()
	hook, err := sessioncompletion.New(kind.Section{}, sessioncompletion.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for data, want := range map[string]chain.Result{
		`{"turn_count":3,"duration_ms":48210,"status":"success"}`:    {UserMessage: "Session complete: 3 turns in 48.2s", UserMessageLevel: chain.LevelInfo, SuppressOutput: true},
		`{"turn_count":1,"duration_ms":90,"status":"error"}`:         {UserMessage: "Session failed: 1 turns in 0.1s", UserMessageLevel: chain.LevelError, SuppressOutput: true},
		`{"turn_count":1,"duration_ms":1000,"status":"interrupted"}`: {UserMessage: "Session interrupted: 1 turns in 1.0s", UserMessageLevel: chain.LevelWarning, SuppressOutput: true},
		`{"turn_count":3}`: {},
	} {
		got, err := hook.Handler(t.Context(), events.Event{Name: events.OrchestratorComplete, Session: "s1", Data: json.RawMessage(data)})
		if err != nil || got.UserMessage != want.UserMessage || got.UserMessageLevel != want.UserMessageLevel || got.SuppressOutput != want.SuppressOutput {
			t.Errorf("%s: %+v, %v; want %+v", data, got, err, want)
		}
	}
	if _, err := hook.Handler(t.Context(), events.Event{Data: json.RawMessage(`{"turn_count":"3"}`)}); err == nil || !strings.Contains(err.Error(), "turn_count and duration_ms must be numbers") {
		t.Errorf("a text for a number: %v", err)
	}
}
