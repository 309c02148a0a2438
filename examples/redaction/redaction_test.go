package redaction

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func toolPre(data string) events.Event {
	return events.Event{Name: events.ToolPre, Data: json.RawMessage(data)}
}

func TestHook(t *testing.T) {
	for sentence, c := range map[string]struct {
		data   string
		opts   Options
		want   string // "" for unchanged
		reason string
	}{
		"nothing to mask": {`{"tool_name":"SendEmail","tool_input":{"body":"hello"}}`, Options{}, "", ""},
		"a card in the body, all other bytes stay": {
			`{"tool_name": "SendEmail", "id":9007199254740993, "tool_input" : {"to":"eve@example.com","n":1.0, "body":"pay 4111-1111-1111-1111"}}`,
			Options{},
			`{"tool_name": "SendEmail", "id":9007199254740993, "tool_input" : {"to":"eve@example.com","n":1.0, "body":"pay [REDACTED:card]"}}`,
			"1 secret masked in tool_input",
		},
		"at any depth of tool_input, but there only": {
			`{"session_id":"4111111111111111","tool_input":{"a":[{"b":"4111111111111111"}],"c":"AKIAIOSFODNN7EXAMPLE"}}`,
			Options{},
			`{"session_id":"4111111111111111","tool_input":{"a":[{"b":"[REDACTED:card]"}],"c":"[REDACTED:aws-key]"}}`,
			"2 secrets masked in tool_input",
		},
		"addresses where it is asked to": {
			`{"tool_input":{"to":"eve@example.com"}}`,
			Options{Emails: true},
			`{"tool_input":{"to":"[REDACTED:email]"}}`,
			"1 secret masked in tool_input",
		},
		"no input": {`{"tool_name":"SendEmail"}`, Options{}, "", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := Hook(c.opts)(t.Context(), toolPre(c.data))
			if err != nil {
				t.Fatal(err)
			}
			want := chain.Result{}
			if c.want != "" {
				want = chain.Result{
					Action: chain.Modify, Data: json.RawMessage(c.want), Reason: c.reason,
					UserMessage: c.reason, UserMessageLevel: chain.LevelWarning,
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestHookFailsOnWhatItCannotRead(t *testing.T) {
	if got, err := Hook(Options{})(t.Context(), toolPre(`[]`)); err == nil {
		t.Errorf("decided %+v: an error makes the router deny", got)
	}
	if r := Registration(); r.OnFailure != chain.FailClosed {
		t.Errorf("on_failure is %q", r.OnFailure)
	}
}

func ExampleHook() {
	guard := Hook(Options{})
	result, err := guard(context.Background(), toolPre(`{"tool_name":"SendEmail","tool_input":{"body":"Card: 4111-1111-1111-1111"}}`))
	fmt.Println(result.Action, err)
	fmt.Println(string(result.Data))
	// Output:
	// modify <nil>
	// {"tool_name":"SendEmail","tool_input":{"body":"Card: [REDACTED:card]"}}
}
