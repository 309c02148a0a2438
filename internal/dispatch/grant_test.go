package dispatch

import (
	"testing"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// What one of several guards says that its permission is for, counts for what all ask; and
// the tool's input, where another says nothing.
func TestTheContentOfAGrantIsThatOfAllThatAsk(t *testing.T) {
	t.Parallel()
	of := func(emitter, data string, keys ...string) string {
		t.Helper()
		object, err := events.ParseObject([]byte(data))
		if err != nil {
			t.Fatal(err)
		}
		ev := &event{request: Request{Event: events.Event{Name: "tool:pre"}, Emitter: emitter}}
		for _, key := range keys {
			ev.asking = append(ev.asking, chain.Call{Result: chain.Result{ApprovalKey: key}})
		}
		return ev.grantContent(chain.Call{}, object)
	}
	const a, b, who = `{"tool_name":"x","tool_input":1}`, `{"tool_name":"x","tool_input":2}`, "nats agent/coder"
	for name, c := range map[string]struct {
		one, other string
		same       bool
	}{
		"keys of all":                  {of(who, a, "k", "l"), of(who, b, "k", "l"), true},
		"another key of one":           {of(who, a, "k", "l"), of(who, a, "k", "m"), false},
		"one key, another input":       {of(who, a, "k", ""), of(who, b, "k", ""), false},
		"one key, the same input":      {of(who, a, "k", ""), of(who, a, "k", ""), true},
		"keys that read as one":        {of(who, a, "k", "key"), of(who, a, "kkey"), false},
		"a key that reads as an input": {of(who, a), of(who, a, `{"tool":"x","tool_input":1}`), false},
		"nobody is proven":             {of("", a, "k"), "", true},
	} {
		if (c.one == c.other) != c.same {
			t.Errorf("%s: %q and %q", name, c.one, c.other)
		}
	}
}
