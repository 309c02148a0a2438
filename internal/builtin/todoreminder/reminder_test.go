package todoreminder_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/builtin/todoreminder"
	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func plan(steps string) string {
	return `{"tool_name":"update_plan","tool_input":{"plan":[` + steps + `]}}`
}

const bash = `{"tool_name":"Bash","tool_input":{"command":"make"}}`

func ExampleNew() {
	hook, err := todoreminder.New(kind.Section{}, todoreminder.Options{Every: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, data := range []string{plan(`{"step":"Test it","status":"pending"}`), bash} {
		result, err := hook.Handler(context.Background(), events.Event{Name: events.ToolPost, Session: "s1", Data: json.RawMessage(data)})
		fmt.Println(result.ContextInjection, err)
	}
	// Output:
	//  <nil>
	// You have tasks open. If one is done, say so in your list; if the list is wrong, correct it:
	// ○ Test it <nil>
}

// session sends events of one session to a new hook.
func session(t *testing.T, o todoreminder.Options) (send func(event, data string) string, states *hookstate.Memory) {
	t.Helper()
	states = &hookstate.Memory{}
	hook, err := todoreminder.New(kind.Section{Worker: kind.Worker{States: states}}, o)
	if err != nil {
		t.Fatal(err)
	}
	return func(event, data string) string {
		t.Helper()
		result, err := hook.Handler(t.Context(), events.Event{Name: event, Session: "s1", Data: json.RawMessage(data)})
		if err != nil {
			t.Fatal(err)
		}
		if result.ContextInjection != "" && !result.Ephemeral {
			t.Error("the reminder stays in the context")
		}
		return result.ContextInjection
	}, states
}

func TestTheAgentIsRemindedEveryFewTools(t *testing.T) {
	send, states := session(t, todoreminder.Options{Every: 3})
	tools := func(n int) (reminders string) {
		for range n {
			if send(events.ToolPost, bash) == "" {
				reminders += "."
			} else {
				reminders += "!"
			}
		}
		return reminders
	}
	if got := tools(5); got != "....." || states.Len() != 0 {
		t.Errorf("without a list: %s, %d states", got, states.Len())
	}
	send(events.ToolPost, plan(`{"step":"A","status":"in_progress"},{"step":"B","status":"pending"}`))
	if got := tools(7); got != "..!..!." {
		t.Errorf("with a list: %s", got)
	}
	send(events.ToolPost, plan(`{"step":"A","status":"completed"},{"step":"B","status":"in_progress"}`))
	if got := tools(3); got != "..!" {
		t.Errorf("after the list was used: %s; want a new count", got)
	}
	send(events.ToolPost, plan(`{"step":"A","status":"completed"}`))
	if got := tools(5); got != "....." {
		t.Errorf("when all is done: %s", got)
	}
	if send(events.SessionEnd, `{}`); states.Len() != 0 {
		t.Errorf("%d states are left", states.Len())
	}
}

func TestAReminderIsBounded(t *testing.T) {
	send, _ := session(t, todoreminder.Options{Every: 1, Max: 2})
	send(events.ToolPost, plan(strings.TrimSuffix(strings.Repeat(`{"step":"A","status":"pending"},`, 5), ",")))
	if got := send(events.ToolPost, bash); !strings.HasSuffix(got, ":\n○ A\n○ A\nand 3 more") {
		t.Errorf("%q", got)
	}
}

func TestBadOptionsAreRefused(t *testing.T) {
	for want, o := range map[string]todoreminder.Options{"/every": {Every: -1}, "/max": {Max: 1000}} {
		if _, err := todoreminder.New(kind.Section{}, o); err == nil || !strings.HasPrefix(err.Error(), want+":") {
			t.Errorf("New = %v; want an error at %s", err, want)
		}
	}
}
