package evaluate

import (
	"time"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// fileHooks are the hooks of a worker file as a router would have them after all are registered, in
// the order of the file.
type fileHooks struct {
	table *chain.Table
	files map[string]workerfile.Hook
	may   func(workerfile.Hook) bool

	assumed map[string]workerfile.Assumed // answers that replace calls of a hook
}

// newHooks returns the hooks of a file. may reports whether a hook may be called. With shadows,
// hooks in mode shadow count as enforced.
func newHooks(file *workerfile.File, may func(workerfile.Hook) bool, shadows bool) *fileHooks {
	c := &fileHooks{table: &chain.Table{}, files: map[string]workerfile.Hook{}, may: may}
	for i, h := range file.Hooks {
		entry := &chain.Entry{Registration: h.Registration, Order: uint64(i + 1), Hook: h.Handler}
		if entry.Mode == chain.Shadow && shadows {
			entry.Mode = chain.Enforce
		}
		entry.Condition = wanting(h)
		c.table = c.table.Apply(chain.Change{ID: h.Registration.ID, Entry: entry})
		c.files[h.Registration.ID] = h
	}
	return c
}

// wanting returns the condition of a hook: the match of its registration, as a router evaluates it,
// and the hook's own Wants. Nil means always.
func wanting(h workerfile.Hook) func(*chain.View) (bool, error) {
	if h.Wants == nil {
		return h.Condition
	}
	return func(v *chain.View) (bool, error) {
		if h.Condition != nil {
			if holds, err := h.Condition(v); err != nil || !holds {
				return holds, err
			}
		}
		return h.Wants(events.Event{Name: v.Event, Session: v.Session, Data: v.Data, Extensions: v.Extensions}), nil
	}
}

// Entries returns the hooks for an event, in order.
func (c *fileHooks) Entries(event, session string) []*chain.Entry { return c.table.For(event, session) }

// Has reports whether the file has a hook.
func (c *fileHooks) Has(id string) bool { return c.table.Get(id) != nil }

// May reports whether a hook may be called, and can run on this machine.
func (c *fileHooks) May(id string) bool { return c.whyNot(id) == "" }

// Lacks reports whether a hook can't run on this machine.
func (c *fileHooks) Lacks(id string) bool { return c.files[id].Lacks != nil }

// whyNot returns why a hook may not be called, or "" if it may.
func (c *fileHooks) whyNot(id string) string {
	switch h := c.files[id]; {
	case !c.may(h) && h.Acts:
		return "it acts in the world"
	case !c.may(h):
		return "not called here"
	case h.Lacks != nil:
		return "it can't run here: " + h.Lacks.Error()
	}
	return ""
}

// refusal returns the [Undecided] for an event that reaches a hook which may not be called.
func (c *fileHooks) refusal(id string) *Undecided {
	if h := c.files[id]; c.may(h) {
		return &Undecided{Reason: "hook " + id + " was not called: " + c.whyNot(id)}
	}
	return &Undecided{Reason: "hook " + id + " acts in the world, so that it was not called: say replay_safe: true of it where that does no harm, or --run-all"}
}

// chainTimeout bounds the chain of one event. It is a router's default.
const chainTimeout = 30 * time.Second
