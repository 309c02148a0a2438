package held_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// data is no JSON that an encoder would write: spaces, escapes, a number beyond float64.
const data = `{ "cmd" : "rm -rf \u0062uild & <x>",
	"id":12345678901234567890.10, "twice":1, "twice":2 }`

func event() *held.Event {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_901_234, time.UTC)
	return &held.Event{
		Record: approval.Record{
			Request: approval.Request{
				ID: "a1", Session: "s1", Event: "tool:pre", Hook: "deploys", Prompt: "Deploy?\n<b>", Options: []string{"Allow", "Deny"}, Default: "deny",
				Created: approval.At(at), Expires: approval.At(at.Add(time.Hour)), DataSHA256: approval.Digest([]byte(data)),
			},
			EventID: "e1", ChainID: "c1", HookID: "h1", Agent: "agent/1", ToolName: "bash", Reason: "it deploys", Labels: []string{"a", "b"},
			Data: json.RawMessage(data), Changes: json.RawMessage(`[ {"op":"add","path":"/a","value":1.0} ]`),
		},
		Sent: "0123", Arrived: at, Segment: 7, Trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", Called: 3,
		Unlabel: []string{"a"}, AskedAt: at, AddedLabels: map[string]string{"b": "h2", "a": "h1"}, Content: "4567", Root: "s0",
		Questions: []approval.Question{{Hook: "h1", Prompt: "Deploy?\n<b>"}, {Hook: "h2"}},
		Verdict: verdict.Verdict{
			Action: verdict.Pending, Display: []verdict.Display{{Message: "look", Level: chain.LevelWarning, Source: "hook:x", HookID: "x"}},
			SuppressOutput: []string{"noisy"}, InjectedTokens: 12,
		},
	}
}

func TestDecodeReadsWhatAppendWrote(t *testing.T) {
	t.Parallel()
	want := event()
	got, err := held.Decode(want.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("decoded\n%+v, want\n%+v", got, want)
	}
}

// What a person allows is what the agent gets: nothing reformats the data on its way
// through the store.
func TestDataStaysByteForByte(t *testing.T) {
	t.Parallel()
	e := event()
	for range 3 {
		var err error
		if e, err = held.Decode(e.Append(nil)); err != nil {
			t.Fatal(err)
		}
	}
	if string(e.Data) != data {
		t.Errorf("the data is\n%s, want\n%s", e.Data, data)
	}
	if got := approval.Digest(e.Data); got != e.DataSHA256 {
		t.Errorf("its digest is %s, want %s", got, e.DataSHA256)
	}
}

func TestAppendExtendsTheBuffer(t *testing.T) {
	t.Parallel()
	text := string(event().Append([]byte("before ")))
	rest, ok := strings.CutPrefix(text, "before ")
	if !ok || rest != string(event().Append(nil)) {
		t.Errorf("it wrote %q", text)
	}
}

func TestDecodeRefusesWhatIsNoEvent(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "null-", `{"question":`, `{"arrived":"yesterday"}`, `{"segment":"one"}`} {
		if e, err := held.Decode([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), "decode held event: ") {
			t.Errorf("%q: %+v, %v", text, e, err)
		}
	}
}

// The decision on an event that was stored without a segment is in the first.
func TestFirstSegment(t *testing.T) {
	t.Parallel()
	for stored, want := range map[int]int{0: 1, 1: 1, 7: 7} {
		if got := (&held.Event{Segment: stored}).FirstSegment(); got != want {
			t.Errorf("segment %d: %d, want %d", stored, got, want)
		}
	}
}
