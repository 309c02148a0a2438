package main

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// change is one difference between two objects, in the manner of JSON Patch.
type change struct {
	Op    string          `json:"op"`   // add, remove or replace
	Path  string          `json:"path"` // a JSON pointer
	Old   json.RawMessage `json:"old,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
}

// changes lists how one object became another, down to the members of members;
// arrays are compared as a whole.
func changes(before, after json.RawMessage) []change { return compare(nil, "", before, after) }

func compare(list []change, path string, before, after json.RawMessage) []change {
	was, ok1 := parseObject(before)
	is, ok2 := parseObject(after)
	if !ok1 || !ok2 {
		if same(before, after) {
			return list
		}
		return append(list, change{"replace", path, before, after})
	}
	for _, m := range was {
		at := path + "/" + pointerEscaper.Replace(m.name)
		if value, ok := is.get(m.name); ok {
			list = compare(list, at, m.value, value)
		} else {
			list = append(list, change{Op: "remove", Path: at, Old: m.value})
		}
	}
	for _, m := range is {
		if _, ok := was.get(m.name); !ok {
			list = append(list, change{Op: "add", Path: path + "/" + pointerEscaper.Replace(m.name), Value: m.value})
		}
	}
	return list
}

var (
	pointerEscaper   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescaper = strings.NewReplacer("/", ".", "~1", "/", "~0", "~")
)

// name is the path for people: tool_input.command.
func (c change) name() string { return pointerUnescaper.Replace(strings.TrimPrefix(c.Path, "/")) }

// same reports whether two texts are the same JSON value; numbers are compared
// digit by digit.
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
