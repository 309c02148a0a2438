package redaction_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/builtin/redaction"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func ExampleNew() {
	hook, err := redaction.New(kind.Section{}, redaction.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := hook.Handler(context.Background(), events.Event{
		Name: events.ToolPost,
		Data: json.RawMessage(`{"tool_name":"Bash","tool_result":{"stdout":"card: 4111-1111-1111-1111"}}`),
	})
	fmt.Println(result.Action, string(result.Data), err)
	fmt.Println(result.Reason)
	// Output:
	// modify {"tool_name":"Bash","tool_result":{"stdout":"card: [REDACTED:card]"}} <nil>
	// 1 secret masked in tool_result
}

// masked is what the hook makes of data: "" for nothing.
func masked(t *testing.T, s kind.Section, o redaction.Options, data string) (string, chain.Result) {
	t.Helper()
	hook, err := redaction.New(s, o)
	if err != nil {
		t.Fatal(err)
	}
	result, err := hook.Handler(t.Context(), events.Event{Name: events.ToolPre, Data: json.RawMessage(data)})
	if err != nil {
		t.Fatal(err)
	}
	return string(result.Data), result
}

func TestWhatIsMasked(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "r.yaml"), []byte("keys: [pin]\nwithout: [email]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for sentence, c := range map[string]struct {
		o          redaction.Options
		data, want string
	}{
		"nothing":                          {redaction.Options{}, `{"tool_input":{"a":"b"}}`, ""},
		"all other bytes stay":             {redaction.Options{}, `{ "tool_name":"X", "n":9007199254740993, "tool_input" : {"f":1.0, "b":"AKIAIOSFODNN7EXAMPLE"} }`, `{ "tool_name":"X", "n":9007199254740993, "tool_input" : {"f":1.0, "b":"[REDACTED:aws-key]"} }`},
		"what says which event it is":      {redaction.Options{}, `{"session_id":"4111111111111111","prompt":"hi"}`, ""},
		"several members":                  {redaction.Options{}, `{"prompt":"4111111111111111","x":["4111111111111111"]}`, `{"prompt":"[REDACTED:card]","x":["[REDACTED:card]"]}`},
		"a card with a wrong check digit":  {redaction.Options{}, `{"prompt":"4111111111111112"}`, ""},
		"mail is left alone":               {redaction.Options{}, `{"prompt":"eve@example.com"}`, ""},
		"mail where it is asked for":       {redaction.Options{Emails: true}, `{"prompt":"eve@example.com"}`, `{"prompt":"[REDACTED:email]"}`},
		"only some members":                {redaction.Options{Members: []string{"tool_input"}}, `{"prompt":"4111111111111111","tool_input":"4111111111111111"}`, `{"prompt":"4111111111111111","tool_input":"[REDACTED:card]"}`},
		"JSON in a text stays JSON":        {redaction.Options{}, `{"toolName":"pay","toolArgs":"{\"card\":4111111111111111,\"note\":\"4111111111111111\"}"}`, `{"toolName":"pay","toolArgs":"{\"card\":4111111111111111,\"note\":\"[REDACTED:card]\"}"}`},
		"members that are kept":            {redaction.Options{Keep: []string{"prompt"}}, `{"prompt":"4111111111111111"}`, ""},
		"a mask":                           {redaction.Options{Mask: "<{kind}>"}, `{"prompt":"a 4111111111111111 b"}`, `{"prompt":"a <card> b"}`},
		"a mask, and a mark of before":     {redaction.Options{Mask: "*"}, `{"prompt":"[REDACTED:card] 4111111111111111"}`, `{"prompt":"[REDACTED:card] [REDACTED:card]"}`},
		"names of a rules file":            {redaction.Options{Rules: "r.yaml"}, `{"tool_input":{"pin":1234,"m":"eve@example.com"}}`, `{"tool_input":{"pin":"[REDACTED:key]","m":"eve@example.com"}}`},
		"names of a rules file, on top":    {redaction.Options{Rules: "r.yaml"}, `{"pin":1234}`, `{"pin":"[REDACTED:key]"}`},
		"a name with quotes and no secret": {redaction.Options{}, `{"a\"b":"4111111111111111"}`, `{"a\"b":"[REDACTED:card]"}`},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, result := masked(t, kind.Section{Worker: kind.Worker{Dir: dir}}, c.o, c.data)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if (result.Action == chain.Modify) != (c.want != "") || strings.Contains(result.Reason+result.UserMessage, "4111") {
				t.Errorf("%+v", result)
			}
		})
	}
}

func TestQuiet(t *testing.T) {
	if _, result := masked(t, kind.Section{}, redaction.Options{Quiet: true}, `{"prompt":"4111111111111111"}`); result.UserMessage != "" || result.Reason != "1 secret masked in prompt" {
		t.Errorf("%+v", result)
	}
}

func TestWhatCannotBeReadIsAnError(t *testing.T) {
	hook, err := redaction.New(kind.Section{}, redaction.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := hook.Handler(t.Context(), events.Event{Name: events.ToolPre, Data: json.RawMessage(`[]`)}); err == nil {
		t.Errorf("it answered %+v", got)
	}
	if r := redaction.Builtin.Registration; r.OnFailure != chain.FailClosed || !r.ReplaySafe {
		t.Errorf("registration %+v", r)
	}
}

func TestBadOptionsAreRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bad.yaml"), []byte("patterns: 7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]redaction.Options{
		"/mask: must be one line":     {Mask: "a\nb"},
		"/mask: must be one line of ": {Mask: `"`},
		"/mask: looks like a secret":  {Mask: "4111111111111111"},
		"/members/1: session_id":      {Members: []string{"a", "session_id"}},
		"/members/0: a is":            {Members: []string{"a"}, Keep: []string{"a"}},
		"/rules: can't be read":       {Rules: "none.yaml"},
		"/rules: bad.yaml:1:11":       {Rules: "bad.yaml"},
		"/emails: is for":             {Rules: "bad.yaml", Emails: true},
	} {
		_, err := redaction.New(kind.Section{Worker: kind.Worker{Dir: dir}}, o)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v; want %s", o, err, want)
		}
	}
}

// FuzzMask: what comes out is an object that has no more secrets, and has the same
// members.
func FuzzMask(f *testing.F) {
	f.Add(`{"prompt":"a 4111111111111111 b","x":{"y":["AKIAIOSFODNN7EXAMPLE"]}}`)
	f.Add(`{"a":"Bearer abcdefghijklmnop0123456789","\u0061b":null}`)
	hook, err := redaction.New(kind.Section{}, redaction.Options{Emails: true, Mask: "*{kind}*"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data string) {
		before, err := events.ParseObject([]byte(data))
		result, herr := hook.Handler(t.Context(), events.Event{Name: events.ToolPre, Data: json.RawMessage(data)})
		if (err == nil) != (herr == nil) {
			t.Fatalf("parse %v, handle %v", err, herr)
		}
		if herr != nil || result.Data == nil {
			return
		}
		after, err := events.ParseObject(result.Data)
		if err != nil || after.Len() != before.Len() {
			t.Fatalf("%s became %s: %v", data, result.Data, err)
		}
		for name := range before.All() {
			if _, ok := after.Get(name); !ok {
				t.Errorf("%q is lost", name)
			}
		}
	})
}

// Each member is written once, however many there are: one event must not keep the worker busy
// for minutes.
func TestManyMembersAreMaskedInOnePass(t *testing.T) {
	const members = 30_000
	var data, want strings.Builder
	for i := range members {
		fmt.Fprintf(&data, `,"m%d":"AKIAIOSFODNN7EXAMPLE"`, i)
		fmt.Fprintf(&want, `,"m%d":"[REDACTED:aws-key]"`, i)
	}
	began := time.Now()
	got, result := masked(t, kind.Section{}, redaction.Options{}, "{"+data.String()[1:]+"}")
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("%d bytes took %v", data.Len(), took)
	}
	if got != "{"+want.String()[1:]+"}" {
		t.Errorf("got %.200s", got)
	}
	if want := "30000 secrets masked in m0, m1, m2, m3, m4, m5, m6, m7, m8, m9 and 29990 more"; result.Reason != want {
		t.Errorf("reason %.200q, want %q", result.Reason, want)
	}
}

// Names are the sender's: what is told of them is bounded.
func TestLongNamesAreCut(t *testing.T) {
	_, result := masked(t, kind.Section{}, redaction.Options{}, `{"`+strings.Repeat("n", 10_000)+`":"AKIAIOSFODNN7EXAMPLE"}`)
	if len(result.Reason) > 200 {
		t.Errorf("the reason has %d bytes", len(result.Reason))
	}
}
