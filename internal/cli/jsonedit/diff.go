package jsonedit

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// Change is one difference between two objects, in the style of JSON Patch.
type Change struct {
	Op    string          `json:"op"`   // add, remove or replace
	Path  string          `json:"path"` // a JSON pointer
	Old   json.RawMessage `json:"old,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
}

// Changes returns the changes between two objects, recursing into members that are objects. Arrays
// are compared as a whole.
func Changes(before, after json.RawMessage) []Change { return compare(nil, "", before, after) }

func compare(list []Change, path string, before, after json.RawMessage) []Change {
	was, ok1 := ParseObject(before)
	is, ok2 := ParseObject(after)
	if !ok1 || !ok2 {
		if same(before, after) {
			return list
		}
		return append(list, Change{"replace", path, before, after})
	}
	for _, m := range was {
		at := path + "/" + pointerEscaper.Replace(m.Name)
		if value, ok := is.Get(m.Name); ok {
			list = compare(list, at, m.Value, value)
		} else {
			list = append(list, Change{Op: "remove", Path: at, Old: m.Value})
		}
	}
	for _, m := range is {
		if _, ok := was.Get(m.Name); !ok {
			list = append(list, Change{Op: "add", Path: path + "/" + pointerEscaper.Replace(m.Name), Value: m.Value})
		}
	}
	return list
}

var (
	pointerEscaper   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescaper = strings.NewReplacer("/", ".", "~1", "/", "~0", "~")
)

// name returns the path in readable form, such as tool_input.command.
func (c Change) name() string { return pointerUnescaper.Replace(strings.TrimPrefix(c.Path, "/")) }

// same reports whether two texts are the same JSON value. Numbers are compared digit by digit.
func same(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, err1 := decodeAny(a)
	y, err2 := decodeAny(b)
	return err1 == nil && err2 == nil && reflect.DeepEqual(x, y)
}

func decodeAny(text json.RawMessage) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}
