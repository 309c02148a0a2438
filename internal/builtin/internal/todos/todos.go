// Package todos reads the lists of tasks that agents keep with tools of their own, each
// vendor in its own form.
package todos

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Status is how far a task is.
type Status string

// The states of tasks.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
)

// Todo is one task.
type Todo struct {
	ID     string `json:"id,omitempty"` // what the agent calls it; empty where it names none
	Text   string `json:"text"`
	Status Status `json:"status"`
}

// List is an agent's tasks, in its order.
type List []Todo

// What a list may hold.
const (
	MaxTodos = 100
	maxText  = 80 // characters of a task, and of its name
)

// Open are the tasks that are not completed.
func (l List) Open() List {
	return slices.DeleteFunc(slices.Clone(l), func(t Todo) bool { return t.Status == Completed })
}

// task is a task in any vendor's words.
type task struct {
	ID          any    `json:"id"`
	TaskID      any    `json:"taskId"`
	Content     string `json:"content"` // TodoWrite, todowrite, todo
	Step        string `json:"step"`    // update_plan
	Title       string `json:"title"`   // manage_todo_list, tracker_create_task
	Subject     string `json:"subject"` // TaskCreate
	Description string `json:"description"`
	Status      string `json:"status"`
}

// input is what such a tool is given: a list, as [[task]] or Markdown, or one task.
type input struct {
	task
	Todos    json.RawMessage `json:"todos"`
	Plan     []task          `json:"plan"`
	TodoList []task          `json:"todoList"`
	Merge    bool            `json:"merge"` // Cursor: those that are not named stay
}

// After returns the list after a tool call. changed is false for one that only looks,
// or that is no such call.
func (l List) After(tool events.Tool, data events.Object) (list List, changed bool) {
	if tool.Class != events.ClassTodo || builtin.Failed(data) {
		return l, false
	}
	object, text := data.ToolInput()
	var in input
	if text == "" && json.Unmarshal(object.Bytes(), &in) != nil {
		return l, false
	}
	var given []task
	switch {
	case text != "":
		return fromMarkdown(text), true
	case in.Plan != nil:
		given = in.Plan
	case in.TodoList != nil:
		given = in.TodoList
	case in.Todos != nil:
		if json.Unmarshal(in.Todos, &text) == nil {
			return fromMarkdown(text), true
		}
		if json.Unmarshal(in.Todos, &given) != nil {
			return l, false
		}
	default:
		return l.withOne(tool, in.task, data)
	}
	if !in.Merge {
		list = List{}
	} else {
		list = slices.Clone(l)
	}
	for _, t := range given {
		list = list.with(t.todo())
	}
	return list, true
}

// withOne is for tools that make or change one task: TaskCreate, TaskUpdate, tracker_….
func (l List) withOne(tool events.Tool, t task, data events.Object) (List, bool) {
	name := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(tool.Name))
	todo := t.todo()
	switch {
	case strings.Contains(name, "create") && todo.Text != "":
		if len(l) >= MaxTodos {
			return l, false
		}
		todo.ID = cmp.Or(idIn(string(data.ToolResult())), fmt.Sprint(len(l)+1))
	case strings.Contains(name, "update") && todo.ID != "":
	default:
		return l, false
	}
	list := slices.Clone(l)
	if gone(t.Status) {
		return slices.DeleteFunc(list, func(other Todo) bool { return other.ID == todo.ID }), true
	}
	if strings.Contains(name, "update") && !slices.ContainsFunc(l, func(other Todo) bool { return other.ID == todo.ID }) {
		return l, false
	}
	if t.Status == "" && strings.Contains(name, "update") {
		todo.Status = "" // as it was
	}
	return list.with(todo), true
}

// with adds a task if there is room for it, or changes the one of the same id.
func (l List) with(t Todo) List {
	i := slices.IndexFunc(l, func(other Todo) bool { return t.ID != "" && other.ID == t.ID })
	switch {
	case i >= 0:
		l[i] = Todo{t.ID, cmp.Or(t.Text, l[i].Text), cmp.Or(t.Status, l[i].Status)}
	case t.Text != "" && len(l) < MaxTodos:
		l = append(l, t)
	}
	return l
}

func (t task) todo() Todo {
	text := cmp.Or(strings.TrimSpace(t.Content), strings.TrimSpace(t.Step), strings.TrimSpace(t.Title), strings.TrimSpace(t.Subject), t.Description)
	return Todo{ID: idOf(cmp.Or(t.ID, t.TaskID)), Text: builtin.Line(text, maxText), Status: statusOf(t.Status)}
}

func idOf(id any) string {
	if id == nil {
		return ""
	}
	return builtin.Line(fmt.Sprint(id), maxText)
}

func statusOf(text string) Status {
	switch strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "").Replace(text)) {
	case "completed", "complete", "done", "closed", "cancelled", "canceled", "deleted":
		return Completed
	case "inprogress", "started", "active", "doing":
		return InProgress
	}
	return Pending
}

func gone(status string) bool { return status == "deleted" }

// taskID finds what a tool that made a task calls it: {"task":{"id":"7"}}, or "Task #7".
var taskID = regexp.MustCompile(`"(?:id|taskId|task_id)"\s*:\s*"?([\w-]{1,64})|(?i:task)\s+#?([\w-]*\d[\w-]*)`)

func idIn(result string) string {
	found := taskID.FindStringSubmatch(result)
	if found == nil {
		return ""
	}
	return found[1] + found[2]
}

// item is a line of a list in Markdown.
var item = regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s+(?:\[(.)\]\s+)?(\S.*)$`)

// fromMarkdown reads the lines "- [x] done" and the like.
func fromMarkdown(text string) List {
	list := List{}
	for line := range strings.Lines(text) {
		found := item.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if found == nil {
			continue
		}
		status := Pending
		switch found[1] {
		case "x", "X":
			status = Completed
		case "~", "/", "-", ">":
			status = InProgress
		}
		if list = append(list, Todo{Text: builtin.Line(found[2], maxText), Status: status}); len(list) == MaxTodos {
			break
		}
	}
	return list
}
