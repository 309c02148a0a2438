package jsonedit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Object is a JSON object whose members keep their order and their bytes.
type Object []member

type member struct {
	Name  string
	Value json.RawMessage
}

// ParseObject parses a JSON object. ok is false for any other text.
func ParseObject(text []byte) (o Object, ok bool) {
	parsed, err := events.ParseObject(text)
	for name, value := range parsed.All() {
		o = append(o, member{name, json.RawMessage(value)})
	}
	return o, err == nil
}

// Get returns the value of a member.
func (o Object) Get(name string) (json.RawMessage, bool) {
	i := slices.IndexFunc(o, func(m member) bool { return m.Name == name })
	if i < 0 {
		return nil, false
	}
	return o[i].Value, true
}

// With returns the object with a member set, in place or at the end.
func (o Object) With(name string, value json.RawMessage) Object {
	if i := slices.IndexFunc(o, func(m member) bool { return m.Name == name }); i >= 0 {
		o = slices.Clone(o)
		o[i].Value = value
		return o
	}
	return append(slices.Clip(o), member{name, value})
}

// Without returns the object without a member.
func (o Object) Without(name string) Object {
	return slices.DeleteFunc(slices.Clone(o), func(m member) bool { return m.Name == name })
}

// Text returns the object as JSON.
func (o Object) Text() json.RawMessage {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b, _ = jsontext.AppendQuote(b, m.Name)
		b = append(append(b, ':'), m.Value...)
	}
	return append(b, '}')
}

// SetPath returns text with the value at a path of member names set. It replaces anything on the
// path that is not an object with an object.
func SetPath(text json.RawMessage, path []string, value json.RawMessage) json.RawMessage {
	if len(path) == 0 {
		return value
	}
	o, _ := ParseObject(text)
	inner, _ := o.Get(path[0])
	return o.With(path[0], SetPath(inner, path[1:], value)).Text()
}

// Merge applies a JSON merge patch (RFC 7396).
func Merge(target, patch json.RawMessage) json.RawMessage {
	changes, ok := ParseObject(patch)
	if !ok {
		return patch
	}
	o, _ := ParseObject(target)
	for _, m := range changes {
		if string(m.Value) == "null" {
			o = o.Without(m.Name)
			continue
		}
		old, _ := o.Get(m.Name)
		o = o.With(m.Name, Merge(old, m.Value))
	}
	return o.Text()
}

// Assignment parses KEY=VALUE. The key is a dotted path. The value is JSON, or a string if it is
// not valid JSON.
func Assignment(text string) (path []string, value json.RawMessage, err error) {
	key, raw, ok := strings.Cut(text, "=")
	if !ok || key == "" || slices.Contains(strings.Split(key, "."), "") {
		return nil, nil, fmt.Errorf("read %q: KEY=VALUE is needed, such as tool_input.command=ls", text)
	}
	value = json.RawMessage(raw)
	if probe := append(append([]byte(`{"v":`), raw...), '}'); !json.Valid(value) || !isData(probe) {
		value, _ = jsontext.AppendQuote(nil, raw)
	}
	return strings.Split(key, "."), value, nil
}

func isData(text []byte) bool {
	_, err := events.ParseObject(text)
	return err == nil
}
