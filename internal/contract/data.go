package contract

import (
	"encoding/json"
	"strings"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Sizes of unusual data.
const (
	depth     = 60        // levels, the data object included
	bigString = 256 << 10 // bytes
)

// bigInt is an integer that a double can't represent, and bigIntField is the member that contains
// it.
const (
	bigInt      = "9007199254740993"
	bigIntField = "x_64_bit"
)

// variant is data to call a hook with.
type variant struct {
	name   string
	data   json.RawMessage
	breaks bool // it violates the event's schema: the hook may return an error
}

// variants lists the data to call a hook with for an event, usual data first.
func variants(info events.Info, session string) []variant {
	usual := sample(info, session)
	with := func(name string, value any) json.RawMessage {
		d := sample(info, session)
		set(d, name, value)
		return encode(d)
	}
	list := []variant{
		{name: "usual data", data: encode(usual)},
		{name: "an empty object", data: json.RawMessage("{}")},
		{name: "unknown fields", data: with("x_unknown", map[string]any{"list": []any{1, "two", nil, true}, "": "no name"})},
		{name: "nesting of 60 levels", data: with("x_deep", nested(depth-1))},
		{name: "unicode", data: encode(mapStrings(info, session, strange))},
		{name: "64-bit integers", data: encode(bigIntegers(info, session))},
		{name: "a string of 256 KiB", data: with(longest(info), strings.Repeat("0123456789abcde\n", bigString/16))},
		{name: "null in place of every field", data: encode(nulls(info)), breaks: true},
	}
	for _, f := range expected(info) {
		value, what := wrong(f.Type)
		list = append(list, variant{name: f.Name + " is " + what, data: with(f.Name, value), breaks: true})
	}
	return list
}

// strange is text with unusual characters.
const strange = "naïve 😀 日本語 עברית e\u0301 \u0000\u001b[31m \u202e\ufeff ' \" \\ </script> $(id) %s"

// expected returns the fields that are specific to the event, without the session id, which the
// router checks, and the timestamp, which it sets.
func expected(info events.Info) []events.Field {
	var list []events.Field
	for _, f := range info.Fields {
		if f.Name != "session_id" && f.Name != "timestamp" {
			list = append(list, f)
		}
	}
	return list
}

// sample returns data as an agent may send it, with the router's timestamp.
func sample(info events.Info, session string) map[string]any {
	d := map[string]any{"session_id": session, "timestamp": events.Now()}
	for _, f := range expected(info) {
		set(d, f.Name, plausible(f))
	}
	return d
}

// plausible returns a value that an agent may send in a field.
func plausible(f events.Field) any {
	if len(f.Values) > 0 {
		return f.Values[0]
	}
	switch f.Name {
	case "tool_name", "selected_tool":
		return "Bash"
	case "tool_input":
		return map[string]any{"command": "ls -l", "file_path": "/tmp/example.txt", "content": "text\n"}
	case "tool_result":
		return map[string]any{"output": "example.txt\n"}
	case "error":
		if f.Type == events.TypeObject {
			return map[string]any{"type": "timeout", "message": "no answer"}
		}
	}
	switch f.Type {
	case events.TypeInteger:
		return 1200
	case events.TypeBoolean:
		return true
	case events.TypeObject:
		return map[string]any{}
	case events.TypeStrings:
		return []string{"Bash", "Read"}
	default:
		return "example"
	}
}

// wrong returns a value of another type, and its description.
func wrong(t events.FieldType) (value any, what string) {
	switch t {
	case events.TypeString:
		return 42, "a number"
	case events.TypeObject:
		return []any{"a"}, "an array"
	case events.TypeStrings:
		return map[string]any{"a": 1}, "an object"
	case events.TypeBoolean, events.TypeInteger:
	}
	return "yes", "a string"
}

// mapStrings returns usual data with a text in every free string field.
func mapStrings(info events.Info, session, text string) map[string]any {
	d := sample(info, session)
	for _, f := range expected(info) {
		if f.Type == events.TypeString && f.Values == nil {
			set(d, f.Name, text)
		}
	}
	d["x_"+text] = text
	return d
}

func bigIntegers(info events.Info, session string) map[string]any {
	d := sample(info, session)
	for _, f := range expected(info) {
		if f.Type == events.TypeInteger {
			set(d, f.Name, json.Number("9223372036854775807"))
		}
	}
	d[bigIntField] = json.Number(bigInt)
	return d
}

func nulls(info events.Info) map[string]any {
	d := map[string]any{"session_id": nil}
	for _, f := range expected(info) {
		if !strings.Contains(f.Name, ".") {
			d[f.Name] = nil
		}
	}
	return d
}

// longest returns the field for the long string.
func longest(info events.Info) string {
	for _, f := range expected(info) {
		if f.Type == events.TypeString && f.Values == nil {
			return f.Name
		}
	}
	return "x_long"
}

// nested returns a value with a number of nested levels.
func nested(levels int) any {
	var v any = "bottom"
	for i := range levels {
		if i%2 == 0 {
			v = map[string]any{"a": v}
		} else {
			v = []any{v}
		}
	}
	return v
}

// set sets the member with a name. A dot in the name separates a member and its nested member.
func set(d map[string]any, name string, value any) {
	outer, inner, isNested := strings.Cut(name, ".")
	if !isNested {
		d[name] = value
		return
	}
	object, ok := d[outer].(map[string]any)
	if !ok {
		object = map[string]any{}
		d[outer] = object
	}
	object[inner] = value
}

// encode encodes data of this file, which never fails.
func encode(d map[string]any) json.RawMessage {
	b, err := json.Marshal(d)
	if err != nil {
		panic(err)
	}
	return b
}
