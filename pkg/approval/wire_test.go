package approval_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// odd is data that encoding/json would write anew.
const odd = `{ "big" : 9007199254740993, "e":1e2,"zero":-0.0, "html":"<a&b>",` + "\n" + `"esc":"\u00e4\/" }`

// decided is a record in which every field is set.
func decided() approval.Record {
	q := question("Allow", "De\"ny")
	q.Needs = &chain.Approval{Approvers: []chain.Approvers{{Group: "security", Count: 1}, {Group: "oncall", Count: 2}}, ExcludeRequester: true}
	q.Reviews = []approval.Review{{By: "console ann", Person: "ann", Model: true, Option: "Allow", Note: "\"fine\"", Claimed: "Ann", Time: approval.At(answered)}, {By: "nats approver/gk"}}
	q.Progress = "1 of 3: ann allowed"
	return approval.Record{
		Request: q,
		EventID: "e1", ChainID: "c1", HookID: "prod-guard-1", Agent: "agents/<1>", Emitter: "nats AGENTS/coder", ToolName: "Write", Reason: "production\n",
		Data:       json.RawMessage(odd),
		Changes:    json.RawMessage(`[{"op":"add","path":"/big","value": 9007199254740993}]`),
		ShadowRule: "writes", ShadowDecision: "allow", Labels: []string{"secret"}, Scopes: []string{"session", "agent"},
		Decision: &approval.Decision{
			Option: "Allow", Granted: true, DecidedBy: "alice", ClaimedBy: "Alice", Note: "ok",
			Decided: approval.At(answered), TimedOut: true, Error: "none", ApprovedBy: []string{"alice", "bob"}, Scope: "agent", GrantExpires: approval.At(answered),
		},
	}
}

func TestAppendKeepsTheBytesOfData(t *testing.T) {
	var read approval.Record
	if err := json.Unmarshal(decided().Append(nil), &read); err != nil {
		t.Fatal(err)
	}
	if string(read.Data) != odd {
		t.Errorf("data is\n%s\nwant\n%s", read.Data, odd)
	}
	if got, want := approval.Digest(read.Data), approval.Digest([]byte(odd)); got != want {
		t.Errorf("the digest is %s, was %s", got, want)
	}
}

func TestAppendAndReadAgain(t *testing.T) {
	open := decided()
	open.Decision = nil
	bare := approval.Record{Request: approval.Request{Options: []string{}}}
	denied := approval.Record{Request: question("Deny"), Decision: &approval.Decision{DecidedBy: "timeout", Decided: approval.At(deadline)}}
	for sentence, want := range map[string]approval.Record{
		"decided": decided(), "open": open, "nothing known": bare, "denied, with little to say": denied,
	} {
		t.Run(sentence, func(t *testing.T) {
			var got approval.Record
			if err := json.Unmarshal(want.Append(nil), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			var entry approval.Request
			if err := json.Unmarshal(want.Request.Append(nil), &entry); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.Request, entry); diff != "" {
				t.Errorf("approval request (-want +got)\n%s", diff)
			}
		})
	}
}

// What the tags say and what Append writes are the same, for every field.
func TestAppendWritesWhatTheTagsSay(t *testing.T) {
	r := decided()
	for _, part := range []any{r.Request, *r.Decision, r} {
		for f, value := range reflect.ValueOf(part).Fields() {
			if value.IsZero() {
				t.Errorf("%s of the record in this test is not set", f.Name)
			}
		}
	}
	for _, test := range []struct {
		tags     any
		appended []byte
	}{{r, r.Append(nil)}, {r.Request, r.Request.Append(nil)}, {*r.Decision, r.Decision.Append(nil)}} {
		byTags, err := json.Marshal(test.tags)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tree(t, byTags), tree(t, test.appended)); diff != "" {
			t.Errorf("(-tags +Append)\n%s", diff)
		}
	}
}

func TestAppendContinuesABuffer(t *testing.T) {
	if got := string(question().Append([]byte("["))); !strings.HasPrefix(got, `[{"id":"q1",`) || !strings.Contains(got, `"options":[]`) {
		t.Errorf("appended: %s", got)
	}
}

func TestTimeRoundTrips(t *testing.T) {
	east := time.FixedZone("", 2*3600)
	for sentence, test := range map[string]struct {
		given time.Time
		text  string
	}{
		"milliseconds":             {asked.Add(7 * time.Millisecond), "2026-03-01T12:00:00.007Z"},
		"microseconds are cut":     {asked.Add(1999 * time.Microsecond), "2026-03-01T12:00:00.001Z"},
		"another zone becomes UTC": {time.Date(2026, 3, 1, 1, 0, 0, 0, east), "2026-02-28T23:00:00.000Z"},
		"the zero time":            {time.Time{}, "0001-01-01T00:00:00.000Z"},
	} {
		t.Run(sentence, func(t *testing.T) {
			want := approval.At(test.given)
			if want.String() != test.text {
				t.Errorf("it is written %s, want %s", want, test.text)
			}
			text, err := json.Marshal(map[approval.Time]approval.Time{want: want})
			if err != nil {
				t.Fatal(err)
			}
			var got map[approval.Time]approval.Time
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			if got[want] != want { // == and not Equal: as a key and as a value
				t.Errorf("%s was read as %v, want %v", text, got, want)
			}
		})
	}
}

func TestTimeReadsWhatOthersWrite(t *testing.T) {
	for text, want := range map[string]string{
		`"2026-03-01T14:00:00.123456+02:00"`: "2026-03-01T12:00:00.123Z",
		`"2026-03-01T12:00:00Z"`:             "2026-03-01T12:00:00.000Z",
		`null`:                               "0001-01-01T00:00:00.000Z",
	} {
		var got approval.Time
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.String() != want {
			t.Errorf("%s was read as %s, %v; want %s", text, got, err, want)
		}
	}
	kept := approval.At(asked)
	if err := json.Unmarshal([]byte("null"), &kept); err != nil || kept != approval.At(asked) {
		t.Errorf("null made %v of it, %v", kept, err)
	}
	var key approval.Time
	if err := key.UnmarshalText([]byte("2026-03-01T14:00:00.123456+02:00")); err != nil || key != approval.At(asked.Add(123*time.Millisecond)) {
		t.Errorf("as text it was read as %v, %v", key, err)
	}
	if err := key.UnmarshalText([]byte("soon")); err == nil {
		t.Error("as text it was read: soon")
	}
	for _, text := range []string{`"2026-03-01"`, `"soon"`, `5`, `""`, `{}`} {
		var got approval.Time
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s was read as %s", text, got)
		}
	}
}
