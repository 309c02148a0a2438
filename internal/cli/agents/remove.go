package agents

import (
	"slices"

	"github.com/tailscale/hujson"
)

// remove removes the hooks of an agent, and everything that becomes empty.
func remove(settings []byte, t target) ([]byte, error) {
	if t.toml {
		return removeTOML(settings, t)
	}
	for !isBlank(settings) {
		root, err := hujson.Parse(settings)
		if err != nil {
			return nil, err
		}
		from, to, found := next(&root, t.dialect)
		if !found {
			from, to, found = t.also.span(&root)
		}
		if !found {
			return settings, nil
		}
		settings = slices.Concat(settings[:from], settings[to:])
	}
	return settings, nil
}

// next returns the span to remove next: a hook, or the entry, the event or the whole list of hooks
// if it contains nothing else.
func next(root *hujson.Value, dialect string) (from, to int, found bool) {
	top, _ := objectOf(root)
	if top == nil {
		return 0, 0, false
	}
	list, at := member(top, "hooks")
	events, ok := objectOf(list)
	if !ok {
		return 0, 0, false
	}
	for i, m := range events.Members {
		entries, ok := m.Value.Value.(*hujson.Array)
		if !ok {
			continue
		}
		for k := range entries.Elements {
			hooks, own := handlers(&entries.Elements[k], dialect)
			switch {
			case len(own) == 0:
				continue
			case len(own) < len(hooks):
				from, to = spanOf(own[0], len(hooks), func(i int) (int, int) { return hooks[i].StartOffset, hooks[i].EndOffset })
			case len(entries.Elements) > 1:
				from, to = spanOf(k, len(entries.Elements), func(i int) (int, int) { return entries.Elements[i].StartOffset, entries.Elements[i].EndOffset })
			case len(events.Members) > 1:
				from, to = spanOf(i, len(events.Members), membersOf(events))
			case len(top.Members) > 1:
				from, to = spanOf(at, len(top.Members), membersOf(top))
			default:
				from, to = root.StartOffset+1, root.EndOffset-1
			}
			return from, to, true
		}
	}
	return 0, 0, false
}

// handlers returns the hooks of an entry, and the indexes of those that connect wrote.
func handlers(entry *hujson.Value, dialect string) (hooks []hujson.Value, own []int) {
	o, _ := objectOf(entry)
	if o == nil {
		return nil, nil
	}
	list, _ := member(o, "hooks")
	if list == nil {
		return nil, nil
	}
	if array, ok := list.Value.(*hujson.Array); ok {
		hooks = array.Elements
	}
	for i := range hooks {
		if h, _ := objectOf(&hooks[i]); h != nil {
			if command, _ := member(h, "command"); command != nil && ours(textOf(command), dialect) {
				own = append(own, i)
			}
		}
	}
	return hooks, own
}

// textOf returns the text of a JSON string, and "" for any other value.
func textOf(v *hujson.Value) string {
	literal, ok := v.Value.(hujson.Literal)
	if !ok || literal.Kind() != '"' {
		return ""
	}
	return literal.String()
}

func membersOf(o *hujson.Object) func(i int) (from, to int) {
	return func(i int) (int, int) { return o.Members[i].Name.StartOffset, o.Members[i].Value.EndOffset }
}

// spanOf returns the span of the i-th of n comma-separated items, with the comma before it. The
// span of the first item has the comma after it.
func spanOf(i, n int, at func(i int) (from, to int)) (from, to int) {
	from, to = at(i)
	if i > 0 {
		_, from = at(i - 1)
	} else if n > 1 {
		to, _ = at(1)
	}
	return from, to
}
