package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// object is a JSON object whose members keep their order and their bytes.
type object []member

type member struct {
	name  string
	value json.RawMessage
}

// parseObject reads text that is an object; ok is false for any other JSON.
func parseObject(text []byte) (o object, ok bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(text))
	if token, err := dec.ReadToken(); err != nil || token.Kind() != '{' {
		return nil, false
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, false
		}
		m := member{name: name.String()}
		value, err := dec.ReadValue()
		if err != nil {
			return nil, false
		}
		m.value = json.RawMessage(value.Clone())
		o = append(o, m)
	}
	return o, true
}

func (o object) get(name string) (json.RawMessage, bool) {
	i := slices.IndexFunc(o, func(m member) bool { return m.name == name })
	if i < 0 {
		return nil, false
	}
	return o[i].value, true
}

// with returns the object with one member set, in its place or at the end.
func (o object) with(name string, value json.RawMessage) object {
	if i := slices.IndexFunc(o, func(m member) bool { return m.name == name }); i >= 0 {
		o = slices.Clone(o)
		o[i].value = value
		return o
	}
	return append(slices.Clip(o), member{name, value})
}

func (o object) without(name string) object {
	return slices.DeleteFunc(slices.Clone(o), func(m member) bool { return m.name == name })
}

func (o object) text() json.RawMessage {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b, _ = jsontext.AppendQuote(b, m.name)
		b = append(append(b, ':'), m.value...)
	}
	return append(b, '}')
}

// setPath returns text with the value at a path of member names set; what is no
// object on the way becomes one.
func setPath(text json.RawMessage, path []string, value json.RawMessage) json.RawMessage {
	if len(path) == 0 {
		return value
	}
	o, _ := parseObject(text)
	inner, _ := o.get(path[0])
	return o.with(path[0], setPath(inner, path[1:], value)).text()
}

// mergePatch applies a JSON merge patch (RFC 7396).
func mergePatch(target, patch json.RawMessage) json.RawMessage {
	changes, ok := parseObject(patch)
	if !ok {
		return patch
	}
	o, _ := parseObject(target)
	for _, m := range changes {
		if string(m.value) == "null" {
			o = o.without(m.name)
			continue
		}
		old, _ := o.get(m.name)
		o = o.with(m.name, mergePatch(old, m.value))
	}
	return o.text()
}

// assignment reads KEY=VALUE: the key is a path with dots, the value JSON, or
// text where it is no JSON.
func assignment(text string) (path []string, value json.RawMessage, err error) {
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
