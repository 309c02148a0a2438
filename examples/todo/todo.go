package todo

import (
	"context"
	"fmt"
	"strings"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Limits of a reminder, which costs the model's attention each time.
const (
	maxTodos = 20  // todos in one reminder
	maxText  = 120 // characters of one
)

// Todo is one thing to do.
type Todo struct {
	Text    string
	Started bool
}

// Options says where the todos come from.
type Options struct {
	// Todos returns the open todos of a session; nil means those that the agent
	// last gave to its todo tool.
	Todos func(ctx context.Context, session string) ([]Todo, error)
}

// Registration is how the hook asks to be called: before tools, after the todo
// tool, and at the end of a session.
func Registration() chain.Registration {
	return chain.Registration{
		ID:       "todo-reminder",
		Events:   []string{events.ToolPre, events.ToolPost, events.SessionEnd},
		Priority: 20,
		Match: "event != 'tool:post' || has(data.tool_name) && data.tool_name in" +
			" ['TodoWrite', 'todowrite', 'update_plan', 'update_todo', 'write_todos']",
		ReplaySafe: true,
	}
}

// Hook returns the hook. It is safe for concurrent use where Todos is.
func Hook(opts Options) chain.Hook {
	var learned memory
	if opts.Todos == nil {
		opts.Todos = learned.todos
	}
	return func(ctx context.Context, ev events.Event) (chain.Result, error) {
		switch ev.Name {
		case events.ToolPost:
			return chain.Result{}, learned.learn(ev)
		case events.SessionEnd:
			learned.forget(ev.Session)
			return chain.Result{}, nil
		}
		todos, err := opts.Todos(ctx, ev.Session)
		if err != nil {
			return chain.Result{}, fmt.Errorf("get todos: %w", err)
		}
		if len(todos) == 0 {
			return chain.Result{}, nil
		}
		result := chain.Injection(reminder(todos))
		result.Ephemeral = true
		return result, nil
	}
}

func reminder(todos []Todo) string {
	var text strings.Builder
	text.WriteString("Current todos:")
	for _, t := range todos[:min(len(todos), maxTodos)] {
		text.WriteString("\n- " + shorten(t.Text))
		if t.Started {
			text.WriteString(" (in progress)")
		}
	}
	if more := len(todos) - maxTodos; more > 0 {
		fmt.Fprintf(&text, "\n- and %d more", more)
	}
	return text.String()
}

func shorten(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > maxText {
		return string(runes[:maxText]) + "..."
	}
	return string(runes)
}
