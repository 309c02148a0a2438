package sessionstats

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func TestHookTellsTheUserWhenTheAgentIsDone(t *testing.T) {
	for sentence, c := range map[string]struct {
		data string
		want chain.Result
	}{
		"all went well": {
			`{"turn_count":3,"duration_ms":12345,"status":"success"}`,
			chain.Result{UserMessage: "Session complete: 3 turns in 12.3s", SuppressOutput: true},
		},
		"one turn": {
			`{"turn_count":1,"duration_ms":400}`, chain.Result{UserMessage: "Session complete: 1 turn in 0.4s", SuppressOutput: true},
		},
		"it did not": {
			`{"turn_count":2,"duration_ms":1000,"status":"error"}`,
			chain.Result{
				UserMessage: "Session complete: 2 turns in 1.0s (error)", UserMessageLevel: chain.LevelWarning, SuppressOutput: true,
			},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := Hook(Options{})(t.Context(), events.Event{Name: events.OrchestratorComplete, Data: json.RawMessage(c.data)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestHookLogsTheSession(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&out, nil))
	got, err := Hook(Options{Log: log})(t.Context(), events.Event{Name: events.SessionEnd, Session: "s1", Data: json.RawMessage(
		`{"reason":"user_exit","duration_ms":99,"stats":{"total_messages":4,"tool_invocations":2,"total_tokens":9007199254740993}}`)})
	if diff := cmp.Diff(chain.Result{}, got); diff != "" || err != nil {
		t.Errorf("%v, %s", err, diff)
	}
	var line struct {
		Msg       string `json:"msg"`
		SessionID string `json:"session_id"`
		Reason    string `json:"reason"`
		Duration  int64  `json:"duration_ms"`
		Messages  int64  `json:"messages"`
		Tools     int64  `json:"tools"`
		Tokens    int64  `json:"tokens"`
	}
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(line); got != "{session complete s1 user_exit 99 4 2 9007199254740993}" {
		t.Errorf("logged %s", got)
	}
}

func TestHookReportsDataItCannotRead(t *testing.T) {
	for _, name := range []string{events.OrchestratorComplete, events.SessionEnd} {
		if _, err := Hook(Options{})(t.Context(), events.Event{Name: name, Data: json.RawMessage(`{"duration_ms":"long"}`)}); err == nil {
			t.Errorf("%s with a duration that is text is read", name)
		}
	}
}

func ExampleHook() {
	hook := Hook(Options{})
	ev := events.Event{Name: events.OrchestratorComplete, Data: json.RawMessage(`{"turn_count":3,"duration_ms":61500,"status":"success"}`)}
	result, err := hook(context.Background(), ev)
	fmt.Println(result.UserMessage, err)
	// Output: Session complete: 3 turns in 61.5s <nil>
}
