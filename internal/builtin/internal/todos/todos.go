// Package todos reads the todo lists that agents keep with their own tools. Each vendor has its own
// format.
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

// Status is the status of a task.
type Status string

// The statuses of tasks.
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

// List is an agent's tasks, in the order of the agent.
type List []Todo

// Limits of a list.
const (
	MaxTodos = 100
	maxText  = 80 // characters of a task, and of its id
)

// Open returns the tasks that are not completed.
func (l List) Open() List {
	return slices.DeleteFunc(slices.Clone(l), func(t Todo) bool { return t.Status == Completed })
}

// task is a task with the members of all vendors.
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

// input is the input of a todo tool: a list, as tasks or as Markdown, or one task.
type input struct {
	task
	Todos    json.RawMessage `json:"todos"`
	Plan     []task          `json:"plan"`
	TodoList []task          `json:"todoList"`
	Merge    bool            `json:"merge"` // Cursor: those that are not named stay
}

// After returns the list after a tool call. changed is false if the call only reads the list or is
// not one of a todo tool.
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

// withOne returns the list after a call that creates or updates one task: TaskCreate, TaskUpdate,
// tracker_….
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
		todo.Status = "" // keep the status
	}
	return list.with(todo), true
}

// with updates the task with the same id, or adds the task unless the list is full. It may change
// l.
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

// taskID matches the id of a new task in the output of the tool: {"task":{"id":"7"}}, or "Task #7".
var taskID = regexp.MustCompile(`"(?:id|taskId|task_id)"\s*:\s*"?([\w-]{1,64})|(?i:task)\s+#?([\w-]*\d[\w-]*)`)

func idIn(result string) string {
	found := taskID.FindStringSubmatch(result)
	if found == nil {
		return ""
	}
	return found[1] + found[2]
}

// item matches an item of a Markdown list.
var item = regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s+(?:\[(.)\]\s+)?(\S.*)$`)

// fromMarkdown parses Markdown lists with items such as "- [x] done".
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
