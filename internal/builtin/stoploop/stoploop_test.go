package stoploop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/builtin/stoploop"
	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func ExampleNew() {
	hook, err := stoploop.New(kind.Section{}, stoploop.Options{Hint: 2, Deny: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		result, err := hook.Handler(context.Background(), events.Event{
			Name: events.ToolPre, Session: "s1", Data: json.RawMessage(`{"tool_name":"Bash","tool_input":{"command":"make test"}}`),
		})
		fmt.Println(result.Action, result.Reason, err)
	}
	// Output:
	//   <nil>
	// inject_context  <nil>
	// deny Loop: the same call, 3 times in a row. Do something else, or tell the user what you are stuck at. <nil>
}

// session sends events of one session to a new guard.
type session struct {
	*testing.T
	kind.Hook
	states *hookstate.Memory
}

func newSession(t *testing.T, o stoploop.Options) session {
	t.Helper()
	states := &hookstate.Memory{}
	hook, err := stoploop.New(kind.Section{Worker: kind.Worker{States: states}}, o)
	if err != nil {
		t.Fatal(err)
	}
	return session{t, hook, states}
}

func (s session) send(event, data string) chain.Result {
	s.Helper()
	result, err := s.Handler(s.Context(), events.Event{Name: event, Session: "s1", Data: json.RawMessage(data)})
	if err != nil {
		s.Fatal(err)
	}
	return result
}

// calls makes shell calls, one for each letter, and returns what came of each: "." for
// nothing, "?" for a hint, "!" for a denial.
func (s session) calls(letters string) (got string) {
	s.Helper()
	for _, letter := range letters {
		got += s.outcome(`{"tool_name":"Bash","tool_input":{"command":"run ` + string(letter) + `"}}`)
	}
	return got
}

func (s session) outcome(data string) string {
	s.Helper()
	return map[chain.Action]string{"": ".", chain.InjectContext: "?", chain.Deny: "!"}[s.send(events.ToolPre, data).Action]
}

func TestLoopsAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		o           stoploop.Options
		calls, want string
	}{
		"the same call":            {stoploop.Options{}, "aaaaaa", "..??!!"},
		"something else between":   {stoploop.Options{}, "aabaabbaccabcdea", "................"},
		"something else ends it":   {stoploop.Options{}, "aaaaabaaa", "..??!...?"},
		"ping-pong":                {stoploop.Options{}, "ababababab", ".....????!"},
		"three in turn":            {stoploop.Options{}, "abcabcabcabcabc", "........??????!"},
		"four in turn are no loop": {stoploop.Options{}, "abcdabcdabcdabcdabcd", "...................."},
		"but with a longer period": {stoploop.Options{Period: 4, Hint: 2, Deny: 3}, "abcdabcdabcd", ".......????!"},
		"one only":                 {stoploop.Options{Period: 1}, "abababababab", "............"},
		"other thresholds":         {stoploop.Options{Hint: 2, Deny: 3}, "aaa", ".?!"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := newSession(t, c.o).calls(c.calls); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.calls, got, c.want)
			}
		})
	}
}

func TestCallsAreTheSameWhereTheirInputIs(t *testing.T) {
	const bash = `{"tool_name":"Bash","tool_input":{"command":"make","description":"Build"},"cwd":"/p"}`
	const read = `{"tool_name":"Read","tool_input":{"file_path":"/p/a","offset":1}}`
	for name, c := range map[string]struct {
		one, other string
		same       bool
	}{
		"another description":           {bash, `{"tool_name":"Bash","tool_input":{"description":"Again","command":"make"},"cwd":"/p"}`, true},
		"another vendor's shell":        {bash, `{"tool_name":"run_shell_command","tool_input":{"command":"make"},"cwd":"/p"}`, true},
		"another directory":             {bash, `{"tool_name":"Bash","tool_input":{"command":"make"},"cwd":"/q"}`, false},
		"the members in another order":  {read, `{"tool_name":"Read","tool_input":{"offset":1, "file_path":"/p/a"}}`, true},
		"another part of the file":      {read, `{"tool_name":"Read","tool_input":{"file_path":"/p/a","offset":2}}`, false},
		"another tool":                  {read, `{"tool_name":"NotebookRead","tool_input":{"file_path":"/p/a","offset":1}}`, false},
		"a tool nobody knows, the same": {`{"tool_name":"x","tool_input":{"a":[1,2]}}`, `{"tool_name":"x","tool_input":{"a":[1,2]}}`, true},
		"a tool nobody knows, others":   {`{"tool_name":"x","tool_input":{"a":[1,2]}}`, `{"tool_name":"x","tool_input":{"a":[2,1]}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t, stoploop.Options{Hint: 2, Deny: 2})
			if s.outcome(c.one); (s.outcome(c.other) == "!") != c.same {
				t.Errorf("taken for the same: %t", !c.same)
			}
		})
	}
}

func TestSomeToolsMayRepeat(t *testing.T) {
	s := newSession(t, stoploop.Options{Hint: 2, Deny: 2, Ignore: []string{"mcp__queue__*", "web"}})
	for _, data := range []string{
		`{"tool_name":"BashOutput","tool_input":{"bash_id":"1"}}`, `{"tool_name":"TodoRead","tool_input":{}}`,
		`{"tool_name":"mcp__queue__poll","tool_input":{}}`, `{"tool_name":"WebFetch","tool_input":{"url":"http://x/"}}`,
	} {
		if got := s.outcome(data) + s.outcome(data) + s.outcome(data); got != "..." {
			t.Errorf("%s: %s", data, got)
		}
	}
}

func TestThePersonEndsALoop(t *testing.T) {
	s := newSession(t, stoploop.Options{})
	if got := s.calls("aaaaa"); got != "..??!" {
		t.Fatal(got)
	}
	s.send(events.PromptSubmit, `{"prompt":"try once more"}`)
	if got := s.calls("aa"); got != ".." {
		t.Errorf("after a prompt: %s", got)
	}
	if s.send(events.SessionEnd, `{}`); s.states.Len() != 0 {
		t.Errorf("%d states are left", s.states.Len())
	}
}

func TestTheStateIsSmall(t *testing.T) {
	s := newSession(t, stoploop.Options{Deny: 100, Period: 8})
	for range 450 {
		s.calls("ab")
	}
	if err := s.states.Under(t.Context(), "stop-loop", func(_ string, value []byte) bool {
		if len(value) > hookstate.MaxValue/2 {
			t.Errorf("%d bytes", len(value))
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
}

func TestAnAgentThatIsNotLetStop(t *testing.T) {
	s := newSession(t, stoploop.Options{})
	for range 3 {
		if got := s.send(events.PromptComplete, `{"stop_hook_active":true}`); got.Action != "" {
			t.Fatalf("%+v", got)
		}
	}
	got := s.send(events.PromptComplete, `{"last":1}`)
	if got.Action != chain.Modify || string(got.Data) != `{"last":1,"stop_hook_active":true,"loop_count":4}` || !strings.Contains(got.UserMessage, "4 times") {
		t.Errorf("%+v %s", got, got.Data)
	}
	if got := s.send(events.PromptComplete, `{"stop_hook_active":false}`); got.Action != "" {
		t.Errorf("the agent began anew, and still %+v", got)
	}
}

// away is a store that can't be reached.
type away struct{ hookstate.Store }

func (away) Update(context.Context, string, hookstate.Change) error { return errors.New("away") }

func TestAStoreThatIsAway(t *testing.T) {
	hook, err := stoploop.New(kind.Section{Worker: kind.Worker{States: away{}}}, stoploop.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for event, fails := range map[string]bool{events.ToolPre: true, events.PromptSubmit: false, events.PromptComplete: false, events.SessionEnd: false} {
		_, err := hook.Handler(t.Context(), events.Event{Name: event, Session: "s1", Data: json.RawMessage(`{"tool_name":"Bash","tool_input":{"command":"x"}}`)})
		if (err != nil) != fails {
			t.Errorf("%s: %v", event, err)
		}
	}
	if reg := stoploop.Builtin.Registration; reg.OnFailure != chain.FailClosed {
		t.Error("the guard fails open")
	}
}

func TestBadOptionsAreRefused(t *testing.T) {
	for want, o := range map[string]stoploop.Options{
		"/hint": {Hint: 1}, "/deny": {Deny: 1000}, "/period": {Period: 9}, "/stops": {Stops: -2}, "/ignore/1": {Ignore: []string{"a", "["}},
	} {
		if _, err := stoploop.New(kind.Section{}, o); err == nil || !strings.HasPrefix(err.Error(), want+":") {
			t.Errorf("New = %v; want an error at %s", err, want)
		}
	}
}
