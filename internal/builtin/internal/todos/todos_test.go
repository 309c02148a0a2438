package todos_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/builtin/internal/todos"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// after is a list after tool calls, given as the data of tool:post.
func after(t testing.TB, calls ...string) (list todos.List, changed bool) {
	t.Helper()
	for _, call := range calls {
		data, err := events.ParseObject([]byte(call))
		if err != nil {
			t.Fatalf("%s: %v", call, err)
		}
		tool, _ := data.Tool(events.ToolPost)
		list, changed = list.After(tool, data)
	}
	return list, changed
}

func ExampleList_Summary() {
	list := todos.List{{Text: "Write it", Status: todos.Completed}, {Text: "Test it", Status: todos.InProgress}}
	fmt.Println(list.Summary())
	fmt.Println(list.Text())
	// Output:
	// ██████████░░░░░░░░░░ 1/2 ▶ Test it
	// ✓ Write it
	// ▶ Test it
}

func TestEveryVendorsListIsRead(t *testing.T) {
	want := "✓ A\n▶ B\n○ C"
	for vendor, calls := range map[string][]string{
		"Claude Code": {`{"tool_name":"TodoWrite","tool_input":{"todos":[{"content":"A","status":"completed","activeForm":"Doing A"},{"content":"B","status":"in_progress"},{"content":"C","status":"pending"}]}}`},
		"Claude Code, tasks": {
			`{"tool_name":"TaskCreate","tool_input":{"subject":"A","description":"a"},"tool_response":{"task":{"id":"7","subject":"A"}}}`,
			`{"tool_name":"TaskCreate","tool_input":{"subject":"B","description":"b"},"tool_response":{"task":{"id":"8","subject":"B"}}}`,
			`{"tool_name":"TaskCreate","tool_input":{"subject":"C","description":"c"},"tool_response":"Task #9 created successfully"}`,
			`{"tool_name":"TaskCreate","tool_input":{"subject":"D"},"tool_response":{"task":{"id":"10"}}}`,
			`{"tool_name":"TaskUpdate","tool_input":{"taskId":"7","status":"completed"}}`,
			`{"tool_name":"TaskUpdate","tool_input":{"taskId":"8","status":"in_progress"}}`,
			`{"tool_name":"TaskUpdate","tool_input":{"taskId":"9","subject":"C"}}`,
			`{"tool_name":"TaskUpdate","tool_input":{"taskId":"10","status":"deleted"}}`,
		},
		"Codex CLI":  {`{"tool_name":"update_plan","tool_input":{"explanation":"x","plan":[{"step":"A","status":"completed"},{"step":"B","status":"in_progress"},{"step":"C","status":"pending"}]}}`},
		"Gemini CLI": {`{"tool_name":"write_todos","tool_input":{"todos":[{"description":"A","status":"completed"},{"description":"B","status":"in_progress"},{"description":"C","status":"pending"}]}}`},
		"Gemini CLI, tracker": {
			`{"tool_name":"tracker_create_task","tool_input":{"title":"A"},"tool_response":{"llmContent":"Created task a1b2c3: A"}}`,
			`{"tool_name":"tracker_create_task","tool_input":{"title":"B"},"tool_response":{"llmContent":"Created task b1b2c3: B"}}`,
			`{"tool_name":"tracker_create_task","tool_input":{"title":"C"},"tool_response":{"llmContent":"Created task c1b2c3: C"}}`,
			`{"tool_name":"tracker_update_task","tool_input":{"id":"a1b2c3","status":"closed"}}`,
			`{"tool_name":"tracker_update_task","tool_input":{"id":"b1b2c3","status":"in_progress"}}`,
		},
		"GitHub Copilot CLI":        {`{"toolName":"update_todo","toolArgs":{"todos":"# Plan\n- [x] A\n- [~] B\n- [ ] C\n"}}`},
		"GitHub Copilot in VS Code": {`{"tool_name":"manage_todo_list","tool_input":{"operation":"write","todoList":[{"id":1,"title":"A","status":"completed"},{"id":2,"title":"B","status":"in-progress"},{"id":3,"title":"C","status":"not-started"}]}}`},
		"Cursor": {
			`{"tool_name":"TodoWrite","tool_input":{"merge":false,"todos":[{"id":"1","content":"A","status":"in_progress"},{"id":"2","content":"B","status":"pending"},{"id":"3","content":"C","status":"pending"}]}}`,
			`{"tool_name":"TodoWrite","tool_input":{"merge":true,"todos":[{"id":"1","status":"completed"},{"id":"2","content":"B","status":"in_progress"}]}}`,
		},
		"OpenCode":  {`{"tool_name":"todowrite","tool_input":{"todos":[{"id":"1","content":"A","status":"completed","priority":"high"},{"id":"2","content":"B","status":"in_progress"},{"id":"3","content":"C","status":"pending"}]}}`},
		"Amplifier": {`{"tool_name":"todo","tool_input":{"action":"create","todos":[{"content":"A","status":"completed","activeForm":"A"},{"content":"B","status":"in_progress"},{"content":"C","status":"pending"}]}}`},
	} {
		t.Run(vendor, func(t *testing.T) {
			list, changed := after(t, calls...)
			if diff := cmp.Diff(want, list.Text()); diff != "" || !changed {
				t.Errorf("changed: %t (-want +got):\n%s", changed, diff)
			}
		})
	}
}

func TestWhatChangesNothingKeepsTheList(t *testing.T) {
	const written = `{"tool_name":"TodoWrite","tool_input":{"todos":[{"id":"1","content":"A"}]}}`
	for name, call := range map[string]string{
		"a look":                    `{"tool_name":"TodoRead","tool_input":{}}`,
		"a look at one":             `{"tool_name":"TaskGet","tool_input":{"taskId":"1"}}`,
		"a list of them":            `{"tool_name":"todo","tool_input":{"action":"list"}}`,
		"another tool":              `{"tool_name":"Bash","tool_input":{"todos":[]}}`,
		"one that failed":           `{"tool_name":"TodoWrite","tool_input":{"todos":[]},"success":false}`,
		"no list":                   `{"tool_name":"TodoWrite","tool_input":{"todos":7}}`,
		"an unknown task":           `{"tool_name":"TaskUpdate","tool_input":{"taskId":"99","status":"completed"}}`,
		"a task without a name":     `{"tool_name":"TaskCreate","tool_input":{}}`,
		"something that is no list": `{"tool_name":"update_plan","tool_input":{"plan":"do it"}}`,
	} {
		if list, changed := after(t, written, call); changed || list.Text() != "○ A" {
			t.Errorf("%s: changed %t, %q", name, changed, list.Text())
		}
	}
}

func TestListsAreBounded(t *testing.T) {
	var calls []string
	for i := range 2 * todos.MaxTodos {
		calls = append(calls, fmt.Sprintf(`{"tool_name":"TaskCreate","tool_input":{"subject":"%d %s\n\u0007x"}}`, i, strings.Repeat("<", 1000)))
	}
	one, _ := after(t, calls...)
	items := strings.TrimSuffix(strings.Repeat(`{"content":"x"},`, 2*todos.MaxTodos), ",")
	whole, _ := after(t, `{"tool_name":"TodoWrite","tool_input":{"todos":[`+items+`]}}`)
	text, _ := after(t, `{"tool_name":"update_todo","tool_input":{"todos":"`+strings.Repeat(`- [ ] x\n`, 2*todos.MaxTodos)+`"}}`)
	for name, list := range map[string]todos.List{"one by one": one, "as a whole": whole, "as text": text} {
		stored, err := json.Marshal(list)
		if err != nil || len(list) != todos.MaxTodos || len(stored) > 60<<10 || strings.ContainsAny(list[0].Text, "\n\a") {
			t.Errorf("%s: %d tasks, %d bytes, %v", name, len(list), len(stored), err)
		}
	}
}

func TestBarOfAnEmptyList(t *testing.T) {
	if got := (todos.List{}).Summary(); !strings.HasSuffix(got, "░ 0/0 ✓ complete") {
		t.Error(got)
	}
}

func FuzzAfter(f *testing.F) {
	f.Add("TodoWrite", `{"todos":[{"id":1,"content":"A","status":"completed"}],"merge":true}`, `{"task":{"id":"7"}}`)
	f.Add("TaskCreate", `{"subject":"A"}`, `"Task #9 created"`)
	f.Add("update_todo", `{"todos":"- [x] A\n1. B"}`, `null`)
	f.Add("TaskUpdate", `{"taskId":"1","status":"deleted"}`, `{}`)
	f.Fuzz(func(t *testing.T, name, input, result string) {
		quoted, err := json.Marshal(name)
		if err != nil {
			t.Skip()
		}
		data, err := events.ParseObject([]byte(`{"tool_name":` + string(quoted) + `,"tool_input":` + input + `,"tool_result":` + result + `}`))
		if err != nil {
			t.Skip()
		}
		tool, _ := data.Tool(events.ToolPost)
		before := todos.List{{ID: "1", Text: "before", Status: todos.Pending}}
		list, _ := before.After(tool, data)
		if len(list) > todos.MaxTodos {
			t.Errorf("%d tasks", len(list))
		}
		if before[0] != (todos.Todo{ID: "1", Text: "before", Status: todos.Pending}) {
			t.Errorf("the list before was changed: %+v", before)
		}
		for _, todo := range list {
			if todo.Text == "" || strings.ContainsAny(todo.Text, "\n\r") || todo.Status != todos.Pending && todo.Status != todos.InProgress && todo.Status != todos.Completed {
				t.Errorf("%+v", todo)
			}
		}
	})
}

// What a list costs must not grow with the square of its length.
func TestLongListsCostLittle(t *testing.T) {
	var items strings.Builder
	for i := range 45_000 {
		fmt.Fprintf(&items, `,{"id":"%d","content":"c"}`, i)
	}
	began := time.Now()
	if list, changed := after(t, `{"tool_name":"TodoWrite","tool_input":{"todos":[`+items.String()[1:]+`]}}`); !changed || len(list) != todos.MaxTodos || list[99].ID != "99" {
		t.Errorf("%d tasks, changed %v", len(list), changed)
	}
	most := 2 * time.Second
	if testkit.RaceFlags != nil {
		most *= 5
	}
	if took := time.Since(began); took > most {
		t.Errorf("it took %v", took)
	}
}
