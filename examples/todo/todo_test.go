package todo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

const written = `{"tool_name":"TodoWrite","tool_input":{"todos":[
	{"content":"Write the parser","status":"completed","activeForm":"Writing"},
	{"content":"Test the\nparser","status":"in_progress"},
	{"content":"Document it","status":"pending"}, {"content":" "}]}}`

func event(name, session, data string) events.Event {
	return events.Event{Name: name, Session: session, Data: json.RawMessage(data)}
}

// reminderOf is what the hook tells the session before a tool.
func reminderOf(t *testing.T, hook chain.Hook, session string) string {
	t.Helper()
	got, err := hook(t.Context(), event(events.ToolPre, session, `{"tool_name":"Bash"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := chain.Result{}
	if got.ContextInjection != "" {
		want = chain.Result{Action: chain.InjectContext, ContextInjection: got.ContextInjection, Ephemeral: true}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	return got.ContextInjection
}

func tell(t *testing.T, hook chain.Hook, ev events.Event) {
	t.Helper()
	got, err := hook(t.Context(), ev)
	if diff := cmp.Diff(chain.Result{}, got); diff != "" || err != nil {
		t.Fatalf("%v, %s", err, diff)
	}
}

func TestHookRemindsOfWhatTheAgentWrote(t *testing.T) {
	hook := Hook(Options{})
	if got := reminderOf(t, hook, "s1"); got != "" {
		t.Errorf("before: %q", got)
	}
	tell(t, hook, event(events.ToolPost, "s1", written))
	if got, want := reminderOf(t, hook, "s1"), "Current todos:\n- Test the parser (in progress)\n- Document it"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := reminderOf(t, hook, "s2"); got != "" {
		t.Errorf("another session is told %q", got)
	}
	tell(t, hook, event(events.ToolPost, "s1", `{"tool_name":"update_plan","tool_input":{"plan":[{"step":"Ship it","status":"pending"}]}}`))
	if got, want := reminderOf(t, hook, "s1"), "Current todos:\n- Ship it"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	tell(t, hook, event(events.ToolPost, "s1", `{"tool_name":"TodoWrite","tool_input":{"todos":[{"content":"Ship it","status":"completed"}]}}`))
	if got := reminderOf(t, hook, "s1"); got != "" {
		t.Errorf("all is done, still %q", got)
	}
}

func TestHookForgetsASessionThatEnded(t *testing.T) {
	hook := Hook(Options{})
	tell(t, hook, event(events.ToolPost, "s1", written))
	tell(t, hook, event(events.SessionEnd, "s1", `{}`))
	if got := reminderOf(t, hook, "s1"); got != "" {
		t.Errorf("still %q", got)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	var m memory
	for i := range 3 * maxSessions {
		m.remember(fmt.Sprint(i), []Todo{{Text: "x"}})
	}
	m.remember("", []Todo{{Text: "nobody's"}})
	if len(m.sessions) != maxSessions || m.sessions["2999"] == nil || m.sessions[""] != nil {
		t.Errorf("%d sessions are remembered", len(m.sessions))
	}
}

func TestTodosReplaceTheMemory(t *testing.T) {
	many := make([]Todo, 25)
	for i := range many {
		many[i].Text = strings.Repeat("é", 250)
	}
	hook := Hook(Options{Todos: func(_ context.Context, session string) ([]Todo, error) {
		if session == "bad" {
			return nil, errors.New("tracker is away")
		}
		return many, nil
	}})
	got := reminderOf(t, hook, "s1")
	if strings.Count(got, "\n") != 21 || !strings.HasSuffix(got, "\n- and 5 more") || len(got) > 10240 {
		t.Errorf("%d bytes: %q", len(got), got)
	}
	if _, err := hook(t.Context(), event(events.ToolPre, "bad", `{}`)); err == nil || !strings.Contains(err.Error(), "tracker is away") {
		t.Errorf("error %v", err)
	}
}

func TestHookReportsDataItCannotRead(t *testing.T) {
	for _, data := range []string{`{"tool_name":5}`, `{"tool_name":"TodoWrite","tool_input":{"todos":"all"}}`} {
		if _, err := Hook(Options{})(t.Context(), event(events.ToolPost, "s1", data)); err == nil {
			t.Errorf("%s is read", data)
		}
	}
}

func TestHookIsSafeForConcurrentUse(t *testing.T) {
	hook := Hook(Options{})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			session := fmt.Sprint(i % 3)
			for range 50 {
				for _, ev := range []events.Event{
					event(events.ToolPost, session, written), event(events.ToolPre, session, `{}`), event(events.SessionEnd, session, `{}`),
				} {
					if _, err := hook(t.Context(), ev); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
}

func ExampleHook() {
	hook := Hook(Options{Todos: func(context.Context, string) ([]Todo, error) {
		return []Todo{{Text: "Test the parser", Started: true}, {Text: "Document it"}}, nil
	}})
	result, err := hook(context.Background(), events.Event{Name: events.ToolPre, Session: "s1"})
	fmt.Println(result.ContextInjection, result.Ephemeral, err)
	// Output:
	// Current todos:
	// - Test the parser (in progress)
	// - Document it true <nil>
}
