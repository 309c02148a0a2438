package chain

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func seconds(s float64) *float64 { return &s }

func TestParseResult(t *testing.T) {
	for sentence, c := range map[string]struct {
		reply string
		want  Result
	}{
		"an empty reply":                {``, Result{}},
		"JSON null":                     {`null`, Result{}},
		"null with a line break":        {"null\n", Result{}},
		"an empty object":               {`{}`, Result{}},
		"continue":                      {`{"action":"continue"}`, Result{Action: Continue}},
		"deny with a reason":            {`{"action":"deny","reason":"no"}`, Result{Action: Deny, Reason: "no"}},
		"deny without a reason":         {`{"action":"deny"}`, Result{Action: Deny}},
		"modify keeps the data's bytes": {`{"action":"modify","data": {"n" : 9007199254740993,"f":1.0,"u":"\u0041"} }`, Result{Action: Modify, Data: json.RawMessage(`{"n" : 9007199254740993,"f":1.0,"u":"\u0041"}`)}},
		"modify with empty data":        {`{"action":"modify","data":{}}`, Result{Action: Modify, Data: json.RawMessage(`{}`)}},
		"modify with null data":         {`{"action":"modify","data":null}`, Result{Action: Modify}},
		"data of 64 levels":             {`{"data":` + deep(64) + `}`, Result{Data: json.RawMessage(deep(64))}},
		"inject_context with everything": {
			`{"action":"inject_context","context_injection":"x","context_injection_role":"assistant","ephemeral":true,` +
				`"append_to_last_tool_result":true,"suppress_output":true,"user_message":"m","user_message_level":"error"}`,
			Result{
				Action: InjectContext, ContextInjection: "x", ContextInjectionRole: RoleAssistant, Ephemeral: true,
				AppendToLastToolResult: true, SuppressOutput: true, UserMessage: "m", UserMessageLevel: LevelError,
			},
		},
		"ask_user with everything": {
			`{"action":"ask_user","approval_prompt":"sure?","approval_options":["Yes","No"],"approval_timeout":12.5,"approval_default":"allow","approval_key":"k"}`,
			Result{
				Action: AskUser, ApprovalPrompt: "sure?", ApprovalOptions: []string{"Yes", "No"},
				ApprovalTimeout: seconds(12.5), ApprovalDefault: Allow, ApprovalKey: "k",
			},
		},
		"ask_user with no options at all": {`{"action":"ask_user","approval_options":[]}`, Result{Action: AskUser, ApprovalOptions: []string{}}},
		"a time-out of zero":              {`{"approval_timeout":0}`, Result{ApprovalTimeout: seconds(0)}},
		"a time-out with an exponent":     {`{"approval_timeout":3e2}`, Result{ApprovalTimeout: seconds(300)}},
		"null where the specification allows it": {
			`{"data":null,"reason":null,"context_injection":null,"approval_prompt":null,"approval_options":null,"user_message":null}`, Result{},
		},
		"texts that are empty, which is not null": {
			`{"reason":"","context_injection":"","approval_prompt":"","user_message":""}`,
			Result{Blank: BlankReason | BlankContextInjection | BlankApprovalPrompt | BlankUserMessage},
		},
		"flags that are false":           {`{"ephemeral":false,"suppress_output":false,"append_to_last_tool_result":false}`, Result{}},
		"unknown fields":                 {`{"action":"deny","reason":"r","x_extra":{"a":[1]},"hook_name":5}`, Result{Action: Deny, Reason: "r"}},
		"a known field in another case":  {`{"Action":"deny","REASON":"r"}`, Result{}},
		"a field name written escaped":   {`{"\u0061ction":"d\u0065ny"}`, Result{Action: Deny}},
		"text with every kind of escape": {`{"reason":"a\n\u00e9\ud83d\ude00"}`, Result{Reason: "a\né😀"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			reply := []byte(c.reply)
			got, err := ParseResult(reply)
			if err != nil {
				t.Fatal(err)
			}
			clear(reply) // the result must not refer to it
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// deep returns an object that nests n levels.
func deep(n int) string {
	return strings.Repeat(`{"a":`, n-1) + "{}" + strings.Repeat("}", n-1)
}

func TestParseResultRefuses(t *testing.T) {
	for sentence, reply := range map[string]string{
		"text":                             `Traceback (most recent call last)`,
		"a word":                           `oops`,
		"an object that ends too early":    `{"action": "deny"`,
		"a number":                         `42`,
		"a string":                         `"continue"`,
		"a string that names an action":    `"deny"`,
		"true":                             `true`,
		"an array":                         `["not", "an", "object"]`,
		"an array of one number":           `[1]`,
		"an array of zero":                 `[0]`,
		"an empty array":                   `[]`,
		"an unknown action":                `{"action": "explode"}`,
		"an action of another system":      `{"action": "block"}`,
		"an unknown action, with data":     `{"action": "zap", "data": {"bad": 1}}`,
		"an unknown action, with message":  `{"action": "zap", "user_message": "ghost"}`,
		"an action in capitals":            `{"action":"Deny"}`,
		"an action with a space":           `{"action":"deny "}`,
		"an empty action":                  `{"action":""}`,
		"an action that is null":           `{"action": null}`,
		"an action that is a number":       `{"action":1}`,
		"an action that is an array":       `{"action":["deny"]}`,
		"a decision of an approval":        `{"action":"allow"}`,
		"a reason that is a number":        `{"action": "deny", "reason": 5}`,
		"a reason that is another number":  `{"action": "deny", "reason": 7}`,
		"a reason that is an object":       `{"reason":{}}`,
		"data that is an array":            `{"action": "modify", "data": [1]}`,
		"data that is text":                `{"data":"{}"}`,
		"data that is false":               `{"data":false}`,
		"an injection that is a list":      `{"context_injection":["x"]}`,
		"a role that nobody has":           `{"action": "inject_context", "context_injection": "x", "context_injection_role": "tool"}`,
		"a role that is null":              `{"context_injection_role":null}`,
		"a flag that is text":              `{"action": "inject_context", "context_injection": "x", "ephemeral": "maybe"}`,
		"a flag that is the text true":     `{"ephemeral":"true"}`,
		"a flag that is a number":          `{"suppress_output":1}`,
		"a flag that is null":              `{"append_to_last_tool_result":null}`,
		"options that are numbers":         `{"action": "ask_user", "approval_options": [1, 2]}`,
		"options with one null":            `{"approval_options":["Yes",null]}`,
		"options that are nested":          `{"approval_options":[["Yes"]]}`,
		"options that are text":            `{"approval_options":"Yes"}`,
		"options that are an object":       `{"approval_options":{"0":"Yes"}}`,
		"a time-out that is text":          `{"approval_timeout":"5"}`,
		"a time-out that is null":          `{"approval_timeout":null}`,
		"a time-out beyond every number":   `{"approval_timeout":1e999}`,
		"a default that is an action":      `{"approval_default":"continue"}`,
		"a default that is null":           `{"approval_default":null}`,
		"a prompt that is a number":        `{"approval_prompt":1}`,
		"a message that is a flag":         `{"user_message":true}`,
		"a level that nobody has":          `{"user_message_level":"debug"}`,
		"a level that is null":             `{"user_message_level":null}`,
		"a name twice":                     `{"action":"continue","action":"deny"}`,
		"a name twice, once escaped":       `{"action":"continue","\u0061ction":"deny"}`,
		"a name twice within data":         `{"action":"modify","data":{"a":1,"a":2}}`,
		"something after the object":       `{"action":"deny"} {}`,
		"a word after null":                `null null`,
		"data of 65 levels":                `{"data":` + deep(65) + `}`,
		"a byte that is no UTF-8":          "{\"reason\":\"\xff\"}",
		"a byte order mark":                "\ufeff{}",
		"null after a no-break space":      "\u00a0null",
		"a form feed, no JSON space":       "\f",
		"a line break alone":               "\r\n",
		"the second wrong field of two":    `{"action":"deny","reason":"ok","user_message":5}`,
		"a wrong field of another action":  `{"action":"continue","approval_timeout":"x"}`,
		"null in another case":             `NULL`,
		"a number that Python would print": `{"approval_timeout":NaN}`,
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := ParseResult([]byte(reply))
			if !errors.Is(err, ErrInvalidResult) {
				t.Fatalf("error %v, want ErrInvalidResult", err)
			}
			if diff := cmp.Diff(Result{}, got); diff != "" {
				t.Errorf("something of an invalid reply is kept (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseResultSaysWhatIsWrong(t *testing.T) {
	for reply, want := range map[string]string{
		`{"action":"Deny"}`:        `action must be one of ["continue" "deny" "modify" "inject_context" "ask_user"], not "Deny"`,
		`{"reason":5}`:             "reason must be a string or null",
		`{"ephemeral":1}`:          "ephemeral must be true or false",
		`{"approval_options":[1]}`: "approval_options must be a list of strings or null",
		`[]`:                       "must be a JSON object, not an array",
	} {
		if _, err := ParseResult([]byte(reply)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", reply, err, want)
		}
	}
}

func TestAppendWritesOnlyWhatIsNotDefault(t *testing.T) {
	for sentence, c := range map[string]struct {
		result Result
		want   string
	}{
		"the zero Result":         {Result{}, `{"action":"continue"}`},
		"a denial":                {Denial("no \"x\"\n"), `{"action":"deny","reason":"no \"x\"\n"}`},
		"a reason that is blank":  {Result{Action: Deny, Blank: BlankReason}, `{"action":"deny","reason":""}`},
		"a reason that was blank": {Result{Action: Deny, Reason: "no", Blank: BlankReason}, `{"action":"deny","reason":"no"}`},
		"data byte for byte":      {Result{Action: Modify, Data: json.RawMessage(`{"a" : 1.0}`)}, `{"action":"modify","data":{"a" : 1.0}}`},
		"no options offered":      {Question("sure?"), `{"action":"ask_user","approval_prompt":"sure?"}`},
		"options offered":         {Question("sure?", "Yes", "No"), `{"action":"ask_user","approval_prompt":"sure?","approval_options":["Yes","No"]}`},
		"text is not escaped for HTML": {
			Result{UserMessage: "<b>&\u2028"}, "{\"action\":\"continue\",\"user_message\":\"<b>&\u2028\"}",
		},
		"text that is no UTF-8 is mended": {Result{Reason: "a\xffb"}, `{"action":"continue","reason":"a` + "\ufffd" + `b"}`},
		"a time-out":                      {Result{ApprovalTimeout: seconds(0.25)}, `{"action":"continue","approval_timeout":0.25}`},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(c.want, string(c.result.Append(nil))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got := string(Denial("no").Append([]byte("before "))); got != `before {"action":"deny","reason":"no"}` {
		t.Errorf("Append = %s", got)
	}
}

func TestResultSurvivesItsText(t *testing.T) {
	want := Result{
		Action: AskUser, Data: json.RawMessage(`{"n":9007199254740993}`), Reason: "r", ContextInjection: "c\x00",
		ContextInjectionRole: RoleUser, Ephemeral: true, AppendToLastToolResult: true, ApprovalPrompt: "p",
		ApprovalOptions: []string{"", "é"}, ApprovalTimeout: seconds(1e21), ApprovalDefault: Deny, ApprovalKey: strings.Repeat("k", 5000),
		SuppressOutput: true, UserMessage: "😀", UserMessageLevel: LevelWarning,
	}
	got, err := ParseResult(want.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Append and ParseResult (-want +got):\n%s", diff)
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got = Result{}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("through encoding/json (-want +got):\n%s", diff)
	}
	if err := json.Unmarshal([]byte(`{"action":"Deny"}`), &got); err == nil {
		t.Error("encoding/json reads an invalid result")
	}
}

func TestReplaceTakesObjectsOnly(t *testing.T) {
	r, err := Replace(json.RawMessage(`{"n":9007199254740993}`))
	if err != nil || r.Action != Modify || string(r.Data) != `{"n":9007199254740993}` {
		t.Errorf("%+v, %v", r, err)
	}
	for sentence, data := range map[string]any{
		"a list": []int{1}, "null": nil, "what is no JSON": json.RawMessage("x"), "no bytes": json.RawMessage{}, "a channel": make(chan int),
	} {
		if r, err := Replace(data); err == nil {
			t.Errorf("%s is taken: %s", sentence, r.Data)
		}
	}
}

// FuzzParseResult: what is accepted reads the same after it was written, and is
// JSON to everybody else.
func FuzzParseResult(f *testing.F) {
	for _, s := range []string{
		``, `null`, `{}`, `{"action":"deny","reason":"no"}`, `{"action":"modify","data":{"a":1.0}}`, `{"action":"Deny"}`, `42`,
		`{"action":"ask_user","approval_options":["a"],"approval_timeout":1e2}`, `{"user_message":"\ud83d\ude00","x":[{}]}`, deep(66),
		"{\"reason\":\"\xff\"}", `{"approval_options":[]}`, "\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, reply []byte) {
		first, err := ParseResult(reply)
		if err != nil {
			if !errors.Is(err, ErrInvalidResult) {
				t.Fatalf("error %v is not ErrInvalidResult", err)
			}
			return
		}
		if len(reply) > 0 && !json.Valid(reply) {
			t.Fatalf("%q is accepted but no JSON", reply)
		}
		if first.Data != nil && !json.Valid(first.Data) {
			t.Fatalf("data %q is no JSON", first.Data)
		}
		second, err := ParseResult(first.Append(nil))
		if err != nil {
			t.Fatalf("%q is written as %s: %v", reply, first.Append(nil), err)
		}
		if first.Action == "" {
			first.Action = Continue
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("it reads differently after it was written (-first +second):\n%s", diff)
		}
	})
}
