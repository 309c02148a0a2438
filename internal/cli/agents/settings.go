package agents

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/tailscale/hujson"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// add adds hooks to a configuration in the form {"hooks":{EVENT:[ENTRY]}}. All other bytes
// stay as they are.
func add(settings []byte, h hooks) ([]byte, error) {
	if h.target.toml {
		return addTOML(settings, h)
	}
	if isBlank(settings) {
		settings = []byte("{}\n")
	}
	if err := unambiguous(settings); err != nil {
		return nil, fmt.Errorf("repair it first: %w", err)
	}
	step := indentOf(settings)
	var err error
	if settings, err = ensure(settings, nil, "hooks", "{}", step); err != nil {
		return nil, err
	}
	for _, e := range h.target.events() {
		if settings, err = ensure(settings, []string{"hooks"}, e.Native, "[]", step); err != nil {
			return nil, err
		}
		text := strings.TrimSuffix(strings.ReplaceAll(pretty(h.target.entry(h.of(e))), "  ", step), "\n")
		if settings, err = appendTo(settings, []string{"hooks"}, e.Native, indented(text, strings.Repeat(step, 3)), step); err != nil {
			return nil, err
		}
	}
	if e := h.target.also; e.list != "" && !e.in(settings) {
		if settings, err = ensure(settings, nil, e.list, "[]", step); err == nil {
			settings, err = appendTo(settings, nil, e.list, strings.TrimSpace(pretty(e.text)), step)
		}
	}
	return settings, err
}

// broken returns why a configuration can't be read, even by its agent, or nil if it can.
func (t target) broken(settings []byte) error {
	switch {
	case t.dialect == "opencode": // a program, not JSON
	case t.toml:
		if err := toml.Unmarshal(settings, &object{}); err != nil {
			return fmt.Errorf("it is not valid TOML: %w", err)
		}
	case !isBlank(settings):
		if _, err := hujson.Parse(settings); err != nil {
			return fmt.Errorf("it is not valid JSON: %w", err)
		}
	}
	return nil
}

// unambiguous returns an error for a configuration that agents may read in another way than connect,
// such as one with a name that stands there twice.
func unambiguous(settings []byte) error {
	standard, err := hujson.Standardize(bytes.Clone(settings))
	if err == nil {
		_, err = events.ParseObject(standard)
	}
	return err
}

func isBlank(settings []byte) bool { return strings.TrimSpace(string(settings)) == "" }

// ensure adds a member to an object that does not have it.
func ensure(settings []byte, path []string, name, value, step string) ([]byte, error) {
	o, end, err := descend(settings, path)
	if err != nil {
		return nil, err
	}
	if v, _ := member(o, name); v != nil {
		if v.Value.Kind() != hujson.Kind(value[0]) {
			return nil, fmt.Errorf("%s in it is not what the agent expects, %s", strings.Join(append(path, name), "."), value)
		}
		return settings, nil
	}
	depth := strings.Repeat(step, len(path)+1)
	text := newline(settings) + depth + pretty(name)[:len(pretty(name))-1] + ": " + value
	if n := len(o.Members); n > 0 {
		return insert(settings, o.Members[n-1].Value.EndOffset, ","+text), nil
	}
	return replaceEmpty(settings, end, text, depth[len(step):]), nil
}

// appendTo appends an entry to a list in the object at a path.
func appendTo(settings []byte, path []string, name, entry, step string) ([]byte, error) {
	o, _, err := descend(settings, path)
	if err != nil {
		return nil, err
	}
	v, _ := member(o, name)
	list := v.Value.(*hujson.Array) // ensure has checked the type
	depth := strings.Repeat(step, len(path)+2)
	text := newline(settings) + depth + entry
	if n := len(list.Elements); n > 0 {
		return insert(settings, list.Elements[n-1].EndOffset, ","+text), nil
	}
	return replaceEmpty(settings, v.EndOffset, text, depth[len(step):]), nil
}

// replaceEmpty inserts text before the closing bracket at an offset. Comments between the brackets
// stay.
func replaceEmpty(settings []byte, end int, text, depth string) []byte {
	return insert(settings, end-1, text+newline(settings)+depth)
}

func insert(settings []byte, at int, text string) []byte {
	if newline(settings) == "\r\n" {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	}
	return slices.Concat(settings[:at], []byte(text), settings[at:])
}

// descend returns the object at a path, and the offset of its end.
func descend(settings []byte, path []string) (o *hujson.Object, end int, err error) {
	v, err := hujson.Parse(settings)
	if err != nil {
		return nil, 0, err
	}
	o, ok := v.Value.(*hujson.Object)
	end = v.EndOffset
	for _, name := range path {
		if !ok {
			break
		}
		inner, _ := member(o, name)
		if o, ok = objectOf(inner); ok {
			end = inner.EndOffset
		}
	}
	if !ok {
		return nil, 0, errors.New("it is not a JSON object")
	}
	return o, end, nil
}

// member returns a member of an object and its index, or nil and -1 if the object does not have it.
func member(o *hujson.Object, name string) (v *hujson.Value, index int) {
	for i := range o.Members {
		if literal, ok := o.Members[i].Name.Value.(hujson.Literal); ok && literal.String() == name {
			return &o.Members[i].Value, i
		}
	}
	return nil, -1
}

func objectOf(v *hujson.Value) (*hujson.Object, bool) {
	if v == nil {
		return nil, false
	}
	o, ok := v.Value.(*hujson.Object)
	return o, ok
}

func newline(settings []byte) string {
	if strings.Contains(string(settings), "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// indentOf returns one level of indentation, as the configuration uses it.
func indentOf(settings []byte) string {
	for line := range strings.Lines(string(settings)) {
		if rest := strings.TrimLeft(line, " \t"); rest != line && strings.HasPrefix(rest, `"`) {
			return line[:len(line)-len(rest)]
		}
	}
	return "  "
}

func indented(text, by string) string { return strings.ReplaceAll(text, "\n", "\n"+by) }
