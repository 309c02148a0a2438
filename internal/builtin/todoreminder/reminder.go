package todoreminder

import (
	"cmp"
	"context"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/builtin/internal/todos"
	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Defaults of [Options].
const (
	DefaultEvery = 10
	DefaultMax   = 20
)

// Options of the builtin. The zero Options are its defaults.
type Options struct {
	// Every is after how many tools the agent is reminded, counted since it last used
	// its list or was reminded; 0 means [DefaultEvery].
	Every int `json:"every"`
	// Max bounds the tasks of one reminder; 0 means [DefaultMax].
	Max int `json:"max"`
}

// Builtin is todo-reminder.
var Builtin = builtin.Of("Reminds the agent of its open tasks when it has not looked at its list for a while.",
	chain.Registration{Events: []string{events.ToolPost, events.SessionEnd}, Priority: 20}, New)

// state is the state of a session.
type state struct {
	List  todos.List `json:"todos"`
	Tools int        `json:"tools"` // since the list was used, or the agent reminded
}

// New builds the hook.
func New(s kind.Section, o Options) (kind.Hook, error) {
	if o.Every < 0 {
		return kind.Hook{}, kind.At("/every", "must be 1 or more, not %d", o.Every)
	}
	if o.Max < 0 || o.Max > todos.MaxTodos {
		return kind.Hook{}, kind.At("/max", "must be 1 to %d, not %d", todos.MaxTodos, o.Max)
	}
	o.Every, o.Max = cmp.Or(o.Every, DefaultEvery), cmp.Or(o.Max, DefaultMax)
	states, log := builtin.StateOf[state](s, "todo-reminder"), builtin.LogOf(s)
	return kind.Hook{Handler: builtin.PerSession(states, log, func(ctx context.Context, ev events.Event) (chain.Result, error) {
		return o.after(ctx, states, ev)
	})}, nil
}

// after counts a tool call, and returns a reminder when one is due.
func (o Options) after(ctx context.Context, states hookstate.Sessions[state], ev events.Event) (chain.Result, error) {
	data, err := events.ParseObject(ev.Data)
	if err != nil {
		return chain.Result{}, err
	}
	tool, isTool := data.Tool(ev.Name)
	if !isTool || ev.Session == "" {
		return chain.Result{}, nil
	}
	var open todos.List
	err = states.Update(ctx, builtin.Owner(ev), func(s *state) bool {
		open = nil
		list, changed := s.List.After(tool, data)
		switch {
		case tool.Class == events.ClassTodo:
			changed = changed || s.Tools > 0
			s.List, s.Tools = list, 0
			return changed
		case len(list.Open()) == 0:
			return false // no open tasks: no reminder to count for
		}
		if s.Tools++; s.Tools >= o.Every {
			s.Tools, open = 0, s.List.Open()
		}
		return true
	})
	if err != nil || open == nil {
		return chain.Result{}, err
	}
	text := "You have tasks open. If one is done, say so in your list; if the list is wrong, correct it:\n" + open[:min(len(open), o.Max)].Text()
	if more := len(open) - o.Max; more > 0 {
		text += fmt.Sprintf("\nand %d more", more)
	}
	result := chain.Injection(text)
	result.Ephemeral, result.AppendToLastToolResult, result.SuppressOutput = true, true, true
	return result, nil
}
