package dispatch

import (
	"strings"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Workers knows what the credentials of the workers behind hooks permit. It may change between
// two events.
type Workers interface {
	// Allows reports whether a hook may answer with an action.
	Allows(hook string, action chain.Action) bool
	// Fields returns the members of an event's data that a hook may see, such as
	// "tool_input.command"; nil for all.
	Fields(hook string) []string
}

// visible returns the part of an event's data that a hook may see. A contributor sees its channel,
// which is not an agent's data.
func (d *Dispatcher) visible(entry *chain.Entry, data []byte) ([]byte, error) {
	fields := d.opts.Workers.Fields(entry.ID)
	if fields == nil || len(entry.Channels) > 0 {
		return data, nil
	}
	return project(data, fields)
}

// Compiler compiles the condition of a registration; nil if it has none.
type Compiler = func(chain.Registration) (func(*chain.View) (bool, error), error)

// Narrowed compiles conditions that see only the part of an event's data that their hooks may see.
// Otherwise a worker could learn about hidden data from whether its hook is called.
func Narrowed(w Workers, compile Compiler) Compiler {
	return func(reg chain.Registration) (func(*chain.View) (bool, error), error) {
		condition, err := compile(reg)
		if condition == nil || err != nil {
			return condition, err
		}
		return func(v *chain.View) (bool, error) {
			fields := w.Fields(reg.ID)
			if fields == nil {
				return condition(v)
			}
			data, err := project(v.Data, fields)
			if err != nil {
				return false, err
			}
			return condition(&chain.View{Event: v.Event, Session: v.Session, Data: data, Extensions: v.Extensions})
		}, nil
	}
}

// project keeps the named members of an object, and of the objects in it.
func project(data []byte, fields []string) ([]byte, error) {
	object, err := events.ParseObject(data)
	if err != nil {
		return nil, err
	}
	w := events.NewObjectWriter(nil)
	for name, value := range object.All() {
		whole, below := false, []string(nil)
		for _, field := range fields {
			head, rest, nested := strings.Cut(field, ".")
			if head == name && nested {
				below = append(below, rest)
			}
			whole = whole || head == name && !nested
		}
		switch {
		case whole:
			w.Raw(name, value)
		case below != nil && value.Kind() == '{':
			part, err := project(value, below)
			if err != nil {
				return nil, err
			}
			w.Raw(name, part)
		}
	}
	return w.End(), nil
}
