package tododisplay

import (
	"cmp"
	"context"
	"slices"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/builtin/internal/todos"
	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Mode is how a list is shown to the user.
type Mode string

// The modes. The zero Mode means Auto.
const (
	Auto      Mode = "auto"      // full for short lists, condensed for others
	Full      Mode = "full"      // each task on a line of its own
	Condensed Mode = "condensed" // one line: how many are done, and the task in progress
	None      Mode = "none"      // not at all
)

// Defaults of [Options].
const (
	DefaultCompactThreshold = 7
	DefaultTitle            = "Todo"
)

// Options of the builtin. The zero Options are its defaults.
type Options struct {
	// Mode is auto, full, condensed or none; empty means auto.
	Mode Mode `json:"mode"`
	// CompactThreshold is from how many tasks more on auto is condensed; 0 means
	// [DefaultCompactThreshold].
	CompactThreshold int `json:"compact_threshold"`
	// Title precedes the list; empty means [DefaultTitle].
	Title string `json:"title"`
	// NoContext keeps the list from the agent, which otherwise gets it with each prompt.
	NoContext bool `json:"no_context"`
	// Private keeps the lists from the channel session.todos, which all who may ask for
	// contributions can read.
	Private bool `json:"private"`
}

// Builtin is todo-display.
var Builtin = builtin.Of("Shows the agent's list of tasks to its user, and to the agent with each prompt.",
	chain.Registration{Events: []string{events.PromptSubmit, events.ToolPost, events.SessionEnd}, Priority: 20, ReplaySafe: true}, New)

// Todos is the state of a session, which is also contributed.
type Todos struct {
	Session string     `json:"session_id"`
	List    todos.List `json:"todos"`
}

// New builds the hook.
func New(s kind.Section, o Options) (kind.Hook, error) {
	o.Mode, o.Title = cmp.Or(o.Mode, Auto), cmp.Or(o.Title, DefaultTitle)
	if modes := []Mode{Auto, Full, Condensed, None}; !slices.Contains(modes, o.Mode) {
		return kind.Hook{}, kind.At("/mode", "must be auto, full, condensed or none, not %q", o.Mode)
	}
	if o.CompactThreshold < 0 {
		return kind.Hook{}, kind.At("/compact_threshold", "must be 1 or more, not %d", o.CompactThreshold)
	}
	o.CompactThreshold = cmp.Or(o.CompactThreshold, DefaultCompactThreshold)
	states, log := builtin.StateOf[Todos](s, "todo-display"), builtin.LogOf(s)
	hook := kind.Hook{Handler: builtin.PerSession(states, log, func(ctx context.Context, ev events.Event) (chain.Result, error) {
		if ev.Name == events.PromptSubmit {
			return o.remind(ctx, states, ev)
		}
		return o.learn(ctx, states, ev)
	})}
	if !o.Private {
		hook.Contributors = map[string]kind.Contributor{builtin.SessionTodos: builtin.Contribution(states, public)}
	}
	return hook, nil
}

func public(t Todos) any {
	if len(t.List) == 0 {
		return nil
	}
	return t
}

// learn stores the list after a call of a todo tool, and shows it to the user.
func (o Options) learn(ctx context.Context, states hookstate.Sessions[Todos], ev events.Event) (chain.Result, error) {
	data, err := events.ParseObject(ev.Data)
	if err != nil {
		return chain.Result{}, err
	}
	tool, _ := data.Tool(ev.Name)
	if tool.Class != events.ClassTodo || ev.Session == "" {
		return chain.Result{}, nil
	}
	var list todos.List
	changed := false
	err = states.Update(ctx, builtin.Owner(ev), func(t *Todos) bool {
		list, changed = t.List.After(tool, data)
		t.Session, t.List = ev.Session, list
		return changed
	})
	if err != nil || !changed || len(list) == 0 || o.Mode == None {
		return chain.Result{}, err
	}
	return chain.Result{UserMessage: o.show(list), SuppressOutput: true}, nil
}

// remind adds the list to the prompt if tasks are open.
func (o Options) remind(ctx context.Context, states hookstate.Sessions[Todos], ev events.Event) (chain.Result, error) {
	if o.NoContext || ev.Session == "" {
		return chain.Result{}, nil
	}
	t, err := states.Get(ctx, builtin.Owner(ev))
	if err != nil || len(t.List.Open()) == 0 {
		return chain.Result{}, err
	}
	result := chain.Injection("Your list of tasks:\n" + t.List.Text())
	result.Ephemeral, result.SuppressOutput = true, true
	return result, nil
}

// show returns the list as shown to the user.
func (o Options) show(list todos.List) string {
	if o.Mode == Condensed || o.Mode == Auto && len(list) > o.CompactThreshold {
		return o.Title + " " + list.Summary()
	}
	return o.Title + " " + list.Bar() + "\n" + list.Text()
}
