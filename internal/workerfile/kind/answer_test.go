package kind_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

func TestAnAnswerThatMeansNothingIsAnError(t *testing.T) {
	for raw, want := range map[string]string{
		"":                                       "",
		"\n":                                     "",
		"null":                                   "",
		"{}":                                     "",
		`{"action":"continue","x":1}`:            "",
		`{"action":"deny"}`:                      "",
		`{"user_message":"m"}`:                   "",
		`{"action":"modify","data":{}}`:          "",
		`{"action":"ask_user"}`:                  "",
		`{"decision":"block","reason":"n"}`:      "dialect: claude-code",
		`{"hookSpecificOutput":{}}`:              "dialect: claude-code",
		`{"Action":"deny"}`:                      `it has "Action" and no action`,
		`{"reason":"n"}`:                         `it has "reason" and no action`,
		`{"reason":"n\ud83d"}`:                   `it has "reason" and no action`,
		`{"action":"modify"}`:                    "modify without data",
		`{"action":"modify","data":null}`:        "modify without data",
		`{"action":"inject_context","text":"n"}`: "inject_context without context_injection",
		`{"action":"explode"}`:                   "action must be one of",
		`{"action":"deny"`:                       "not JSON",
		`{"user_message":"m","context_injection":"no"}`: `it has "context_injection" and no action`,
	} {
		_, err := kind.ParseAnswer([]byte(raw))
		if want == "" && err != nil || want != "" && (!errors.Is(err, chain.ErrInvalidResult) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v; want %q", raw, err, want)
		}
	}
}

// A script that cuts a text may cut within a character.
func TestADenialThatQuotesHalfACharacterStands(t *testing.T) {
	for _, half := range []string{`\ud83d`, "\xe2\x82"} {
		got, err := kind.ParseAnswer([]byte(`{"action":"deny","reason":"no ` + half + `"}`))
		if err != nil || !got.Denied() || got.Reason != "no \ufffd" {
			t.Errorf("%q: %+v, %v", half, got, err)
		}
	}
}
