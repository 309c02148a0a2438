package chain

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWellFormed(t *testing.T) {
	for text, want := range map[string]string{
		``:                           ``,
		`{"a":"b"}`:                  `{"a":"b"}`,
		`"\ud83d\ude00"`:             `"\ud83d\ude00"`,
		`"\uD83D\uDE00\u00e9\n"`:     `"\uD83D\uDE00\u00e9\n"`,
		`"x\ud83d"`:                  `"x\ufffd"`,
		`"\uDE00x"`:                  `"\ufffdx"`,
		`"\ud83d\ud83d\ude00"`:       `"\ufffd\ud83d\ude00"`,
		`"\ud83d\n"`:                 `"\ufffd\n"`,
		`"\ud83d\u0041"`:             `"\ufffd\u0041"`,
		`"\\ud83d"`:                  `"\\ud83d"`, // a backslash and five letters
		`"\\\ud83d"`:                 `"\\\ufffd"`,
		`{"\ud83d":["\udc00",1.50]}`: `{"\ufffd":["\ufffd",1.50]}`,
		`"\ud83`:                     `"\ud83`, // no JSON
		`\`:                          `\`,
	} {
		given := []byte(text)
		if got := string(WellFormed(given)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if string(given) != text {
			t.Errorf("%s was changed to %s", text, given)
		}
	}
}

// A guard in JavaScript quotes a command up to a length that cuts a character.
func TestADenialWithHalfACharacterStands(t *testing.T) {
	r, err := ParseResult([]byte(`{"action":"deny","reason":"not allowed: rm \ud83d","data":{"n":1.0,"cut":"\udc00"}}`))
	want := Result{Action: Deny, Reason: "not allowed: rm \ufffd", Data: json.RawMessage(`{"n":1.0,"cut":"\ufffd"}`)}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A hook of the first protocol may use names that became members later.
func TestADecisionStandsWithMembersOfAnotherMeaning(t *testing.T) {
	for _, member := range []string{
		`"unlabel":["Not A Label"]`, `"unlabel":1`, `"approval_key":{"k":1}`, `"user_message_source":5`, `"context_injections":{}`,
	} {
		for reply, want := range map[string]Result{
			`"action":"deny","reason":"r"`:            {Action: Deny, Reason: "r"},
			`"action":"ask_user","reason":"r"`:        {Action: AskUser, Reason: "r"},
			`"action":"modify","data":{"safe":true}`:  {Action: Modify, Data: json.RawMessage(`{"safe":true}`)},
			`"user_message":"m","labels":["private"]`: {UserMessage: "m", Labels: []string{"private"}},
		} {
			r, err := ParseResult([]byte(`{` + member + `,` + reply + `}`))
			if err != nil {
				t.Errorf("%s beside %s: %v", member, reply, err)
			}
			if diff := cmp.Diff(want, r); diff != "" {
				t.Errorf("%s beside %s (-want +got):\n%s", member, reply, diff)
			}
		}
	}
}

// Labels may close what happens later: without them only a denial stands.
func TestInvalidLabelsLeaveOnlyADenial(t *testing.T) {
	for _, member := range []string{`"labels":{"severity":"high"}`, `"labels":"high"`, `"labels":["Not A Label"]`} {
		r, err := ParseResult([]byte(`{` + member + `,"action":"deny","reason":"r"}`))
		if err != nil {
			t.Errorf("%s: %v", member, err)
		}
		if diff := cmp.Diff(Result{Action: Deny, Reason: "r"}, r); diff != "" {
			t.Errorf("%s (-want +got):\n%s", member, diff)
		}
		if r, err := ParseResult([]byte(`{"action":"ask_user",` + member + `}`)); !errors.Is(err, ErrInvalidResult) || cmp.Diff(Result{}, r) != "" {
			t.Errorf("%s of a hook that does not deny: %+v, %v", member, r, err)
		}
	}
}

// What a key is made of may come from the agent: a long one must not cancel the question.
func TestAQuestionStandsWithALongKey(t *testing.T) {
	key := strings.Repeat("k", 100_000)
	r, err := ParseResult([]byte(`{"action":"ask_user","approval_key":"` + key + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Result{Action: AskUser, ApprovalKey: key}, r); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
