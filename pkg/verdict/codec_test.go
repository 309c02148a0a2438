package verdict_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// full has every field.
var full = verdict.Verdict{
	Action: verdict.Continue, Reason: "r \"x\"\n<é>", Data: json.RawMessage(`{"n" : 9007199254740993,"f":1.0,"u":"\u0041<"}`),
	Messages: []verdict.Message{
		{
			Role: chain.RoleUser, Content: "c", Ephemeral: true, AppendToLastToolResult: true,
			Metadata: verdict.Metadata{Source: "hook", HookName: "lint", HookID: "l", Event: "tool:post", Timestamp: noonUTC},
		},
		{Role: chain.RoleSystem},
	},
	ContextInjections: []chain.ContextInjection{
		{Content: "c", Role: chain.RoleUser, Ephemeral: true, AppendToLastToolResult: true, HookName: "lint", HookID: "l", Event: "tool:post"},
		{Role: chain.RoleSystem},
	},
	Display:        []verdict.Display{{Message: "m", Level: chain.LevelError, Source: "hook:lint", HookID: "l", UserMessageSource: "s"}, {Level: chain.LevelInfo}},
	SuppressOutput: []string{"lint", ""},
	Warnings:       []verdict.Warning{{Kind: verdict.Oversize, Hook: "lint", Detail: "d"}, {}},
	InjectedTokens: 12,
	Approval: &verdict.Approval{
		ID: "i", Hook: "guard", Prompt: "p", Options: []string{"Allow", "Deny"}, Option: "Allow", DecidedBy: "who",
		Cached: true, TimedOut: true, Expires: "2026-03-01T12:00:00.000Z", DataSHA256: "00ff",
	},
}

const fullText = `{"action":"continue","reason":"r \"x\"\n<é>","data":{"n" : 9007199254740993,"f":1.0,"u":"\u0041<"},` +
	`"messages":[{"role":"user","content":"c","ephemeral":true,"append_to_last_tool_result":true,` +
	`"metadata":{"source":"hook","hook_name":"lint","hook_id":"l","event":"tool:post","timestamp":"` + noonUTC + `"}},` +
	`{"role":"system","content":"","metadata":{}}],` +
	`"context_injections":[{"content":"c","role":"user","ephemeral":true,"append_to_last_tool_result":true,` +
	`"hook_name":"lint","hook_id":"l","event":"tool:post"},{"content":"","role":"system"}],` +
	`"display":[{"message":"m","level":"error","source":"hook:lint","hook_id":"l","user_message_source":"s"},{"message":"","level":"info"}],` +
	`"suppress_output":["lint",""],"warnings":[{"kind":"oversize","hook":"lint","detail":"d"},{"kind":""}],"injected_tokens":12,` +
	`"approval":{"id":"i","hook":"guard","prompt":"p","options":["Allow","Deny"],"option":"Allow","decided_by":"who",` +
	`"cached":true,"timed_out":true,"expires":"2026-03-01T12:00:00.000Z","data_sha256":"00ff"}}`

func TestAppend(t *testing.T) {
	for sentence, c := range map[string]struct {
		verdict verdict.Verdict
		want    string
	}{
		"every field":                    {full, fullText},
		"continue":                       {verdict.Verdict{Action: verdict.Continue}, `{"action":"continue","injected_tokens":0}`},
		"the zero Verdict has no action": {verdict.Verdict{}, `{"action":"","injected_tokens":0}`},
		"empty lists": {
			verdict.Verdict{
				Action: verdict.Deny, Messages: []verdict.Message{}, Display: []verdict.Display{}, SuppressOutput: []string{},
				Warnings: []verdict.Warning{}, Approval: &verdict.Approval{Options: []string{}},
			},
			`{"action":"deny","injected_tokens":0,"approval":{}}`,
		},
		"an empty reason": {verdict.Verdict{Action: verdict.Deny, BlankReason: true}, `{"action":"deny","reason":"","injected_tokens":0}`},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(c.want, string(c.verdict.Append(nil))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got := string(verdict.Verdict{Action: verdict.Deny}.Append([]byte("before "))); got != `before {"action":"deny","injected_tokens":0}` {
		t.Errorf("Append = %s", got)
	}
}

func TestParse(t *testing.T) {
	for sentence, c := range map[string]struct {
		body string
		want verdict.Verdict
	}{
		"every field":      {fullText, full},
		"the action alone": {` {"action":"pending"} `, verdict.Verdict{Action: verdict.Pending}},
		"fields of the time to come": {
			`{"action":"deny","x":null,"messages":[{"role":"user","x":[null],"metadata":{"x":1}}],"warnings":[{"kind":"new","x":{}}]}`,
			verdict.Verdict{Action: verdict.Deny, Messages: []verdict.Message{{Role: "user"}}, Warnings: []verdict.Warning{{Kind: "new"}}},
		},
		"another case is another name": {`{"action":"deny","Reason":5,"approval":{"ID":5}}`, verdict.Verdict{Action: verdict.Deny, Approval: &verdict.Approval{}}},
		"null means left out": {
			`{"action":"continue","reason":null,"data":null,"messages":null,"display":null,"suppress_output":null,"warnings":null,"injected_tokens":null,"approval":null}`,
			verdict.Verdict{Action: verdict.Continue},
		},
		"an empty reason is not null": {`{"action":"deny","reason":""}`, verdict.Verdict{Action: verdict.Deny, BlankReason: true}},
		"empty lists mean left out": {
			`{"action":"continue","messages":[],"display":[],"suppress_output":[],"warnings":[]}`,
			verdict.Verdict{Action: verdict.Continue},
		},
		"no role and no level": {
			`{"action":"continue","messages":[{"content":"c"}],"display":[{"message":"m"}]}`,
			verdict.Verdict{
				Action:   verdict.Continue,
				Messages: []verdict.Message{{Role: chain.RoleSystem, Content: "c"}},
				Display:  []verdict.Display{{Message: "m", Level: chain.LevelInfo}},
			},
		},
		"data of 64 levels": {`{"action":"continue","data":` + deep(64) + `}`, verdict.Verdict{Action: verdict.Continue, Data: json.RawMessage(deep(64))}},
	} {
		t.Run(sentence, func(t *testing.T) {
			body := []byte(c.body)
			got, err := verdict.Parse(body)
			if err != nil {
				t.Fatal(err)
			}
			clear(body)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// deep is an object of n levels.
func deep(n int) string { return strings.Repeat(`{"a":`, n-1) + `{}` + strings.Repeat(`}`, n-1) }

func TestParseRefuses(t *testing.T) {
	for sentence, body := range map[string]string{
		"nothing":                         ``,
		"null":                            `null`,
		"a list":                          `[]`,
		"an injection of a tool":          `{"action":"continue","context_injections":[{"content":"x","role":"tool"}]}`,
		"injections that are no list":     `{"action":"continue","context_injections":{}}`,
		"no action":                       `{}`,
		"an action that is null":          `{"action":null}`,
		"an action that is empty":         `{"action":""}`,
		"an action in another case":       `{"action":"Continue"}`,
		"an action of a hook":             `{"action":"modify"}`,
		"an action of an approval":        `{"action":"allow"}`,
		"an action that is a list":        `{"action":["continue"]}`,
		"two actions":                     `{"action":"deny","action":"continue"}`,
		"two actions, one escaped":        `{"action":"deny","\u0061ction":"continue"}`,
		"a name twice within data":        `{"action":"continue","data":{"a":1,"a":2}}`,
		"a name twice within a message":   `{"action":"continue","messages":[{"content":"a","content":"b"}]}`,
		"data that is a list":             `{"action":"continue","data":[]}`,
		"data that is text":               `{"action":"continue","data":"{}"}`,
		"data of 65 levels":               `{"action":"continue","data":` + deep(65) + `}`,
		"a reason that is a number":       `{"action":"deny","reason":5}`,
		"messages that are an object":     `{"action":"continue","messages":{}}`,
		"a message that is text":          `{"action":"continue","messages":["x"]}`,
		"a message that is null":          `{"action":"continue","messages":[null]}`,
		"a role that nobody has":          `{"action":"continue","messages":[{"role":"tool"}]}`,
		"a flag that is text":             `{"action":"continue","messages":[{"ephemeral":"true"}]}`,
		"metadata that is text":           `{"action":"continue","messages":[{"metadata":"hook"}]}`,
		"a level that nobody has":         `{"action":"continue","display":[{"level":"debug"}]}`,
		"a display that is null":          `{"action":"continue","display":[null]}`,
		"names that are numbers":          `{"action":"continue","suppress_output":[1]}`,
		"a name that is null":             `{"action":"continue","suppress_output":["a",null]}`,
		"a warning that is text":          `{"action":"continue","warnings":["oversize"]}`,
		"a warning that is null":          `{"action":"continue","warnings":[null]}`,
		"tokens that are text":            `{"action":"continue","injected_tokens":"5"}`,
		"tokens below zero":               `{"action":"continue","injected_tokens":-1}`,
		"half a token":                    `{"action":"continue","injected_tokens":0.5}`,
		"tokens beyond every number":      `{"action":"continue","injected_tokens":99999999999999999999}`,
		"an approval that is text":        `{"action":"pending","approval":"x"}`,
		"options that are numbers":        `{"action":"pending","approval":{"options":[1]}}`,
		"a digest that is a number":       `{"action":"continue","approval":{"data_sha256":5}}`,
		"something after the object":      `{"action":"continue"} {}`,
		"a byte that is no UTF-8":         "{\"action\":\"deny\",\"reason\":\"\xff\"}",
		"a wrong field after a right one": `{"action":"continue","reason":"r","display":5}`,
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := verdict.Parse([]byte(body))
			if !errors.Is(err, verdict.ErrInvalid) {
				t.Fatalf("error %v, want ErrInvalid", err)
			}
			if diff := cmp.Diff(verdict.Verdict{}, got); diff != "" {
				t.Errorf("something of an invalid verdict is kept (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	for body, want := range map[string]string{
		`{}`:                             "invalid verdict: it has no action",
		`{"action":"allow"}`:             `invalid verdict: action must be one of ["continue" "deny" "pending"]`,
		`{"reason":5}`:                   "invalid verdict: reason must be a string",
		`{"data":[]}`:                    "invalid verdict: data must be an object",
		`{"messages":[{"role":"tool"}]}`: "invalid verdict: messages must be a list of messages, each with a role that is known",
		`{"injected_tokens":-1}`:         "invalid verdict: injected_tokens must be a whole number, 0 or more",
	} {
		if _, err := verdict.Parse([]byte(body)); err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %q", body, err, want)
		}
	}
}

func TestVerdictThroughEncodingJSON(t *testing.T) {
	text, err := json.Marshal(struct{ V verdict.Verdict }{full})
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ V verdict.Verdict }
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	want := full
	want.Data = json.RawMessage(`{"n":9007199254740993,"f":1.0,"u":"\u0041\u003c"}`) // encoding/json does that
	if diff := cmp.Diff(want, got.V); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := json.Unmarshal([]byte(`{"V":{"action":"Continue"}}`), &got); !errors.Is(err, verdict.ErrInvalid) {
		t.Errorf("encoding/json reads an invalid verdict: error %v", err)
	}
	if got.V.Action != verdict.Continue || got.V.Approval == nil {
		t.Errorf("an invalid verdict has replaced %+v", got.V)
	}
}

// FuzzParse: what is accepted is JSON to everybody else, and reads the same after
// it was written.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		fullText, ``, `null`, `{}`, `{"action":"deny","injected_tokens":0}`, `{"action":"pending","approval":{"options":[null]}}`,
		`{"action":"continue","messages":[{}],"display":[{"level":null}],"warnings":[{}]}`, `{"action":"continue","data":` + deep(66) + `}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		first, err := verdict.Parse(body)
		if err != nil {
			if !errors.Is(err, verdict.ErrInvalid) {
				t.Fatalf("error %v is not ErrInvalid", err)
			}
			return
		}
		if !json.Valid(body) {
			t.Fatalf("%q is accepted but no JSON", body)
		}
		second, err := verdict.Parse(first.Append(nil))
		if err != nil {
			t.Fatalf("%q is written as %s: %v", body, first.Append(nil), err)
		}
		if first.Approval != nil && len(first.Approval.Options) == 0 {
			first.Approval.Options = nil // an empty list is left out
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("it reads differently after it was written (-first +second):\n%s", diff)
		}
	})
}
