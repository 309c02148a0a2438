package approval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// MaxChanges is the maximum size of the patch of [Changes], in bytes. A larger difference is one
// replacement of the whole object.
const MaxChanges = 64 << 10

// Changes returns the difference between two JSON objects for people to read, as a JSON Patch (RFC
// 6902). It compares objects member by member and lists element by element. Numbers that are
// written differently differ; white space, the order of members and escapes in strings are ignored.
// Values keep their bytes, and operations that remove or replace carry the former value as "old".
// The timestamp at the top level is ignored, since the router sets it. The patch of equal objects
// is "[]". A patch longer than [MaxChanges] becomes one replacement of the whole object, without
// "old". An error means that from or to is not a JSON object that [events.ParseObject] accepts.
func Changes(from, to []byte) (json.RawMessage, error) {
	before, err := events.ParseObject(from)
	if err != nil {
		return nil, fmt.Errorf("compare data as emitted: %w", err)
	}
	after, err := events.ParseObject(to)
	if err != nil {
		return nil, fmt.Errorf("compare data after the hooks: %w", err)
	}
	p := patch{text: []byte{'['}}
	p.objects(before, after)
	if p.full() {
		p = patch{text: []byte{'['}}
		p.add("replace", bytes.TrimSpace(to), nil)
	}
	return append(p.text, ']'), nil
}

// patch is a JSON Patch under construction.
type patch struct {
	text []byte
	at   []string // the current place in the object
}

// full reports whether the patch exceeds MaxChanges, so that there is no point in continuing.
func (p *patch) full() bool { return len(p.text) >= MaxChanges }

// objects writes the difference of two objects.
func (p *patch) objects(from, to events.Object) {
	old := maps.Collect(from.All())
	for name, value := range to.All() {
		former, had := old[name]
		delete(old, name)
		p.member(name, former, value, had)
	}
	for name, former := range from.All() {
		if _, gone := old[name]; gone {
			p.member(name, former, nil, true)
		}
	}
}

// member writes the difference of one member; value is nil if it was removed.
func (p *patch) member(name string, former, value jsontext.Value, had bool) {
	if p.full() || len(p.at) == 0 && name == "timestamp" {
		return
	}
	p.at = append(p.at, name)
	switch {
	case value == nil:
		p.add("remove", nil, former)
	case !had:
		p.add("add", value, nil)
	default:
		p.values(former, value)
	}
	p.at = p.at[:len(p.at)-1]
}

// values writes the difference of two values in the same place.
func (p *patch) values(from, to jsontext.Value) {
	switch {
	case bytes.Equal(from, to):
	case from.Kind() == '{' && to.Kind() == '{':
		before, _ := events.ParseObject(from) // it is part of the checked text
		after, _ := events.ParseObject(to)
		p.objects(before, after)
	case from.Kind() == '[' && to.Kind() == '[':
		p.lists(elements(from), elements(to))
	case !equal(from, to):
		p.add("replace", to, from)
	}
}

// lists writes the difference of two lists: elements are replaced whole, and added or removed at
// the end.
func (p *patch) lists(from, to []jsontext.Value) {
	both := min(len(from), len(to))
	for i := range both {
		if !equal(from[i], to[i]) {
			p.element(i, "replace", to[i], from[i])
		}
	}
	for i := len(from) - 1; i >= both; i-- {
		p.element(i, "remove", nil, from[i])
	}
	for i := both; i < len(to); i++ {
		p.element(i, "add", to[i], nil)
	}
}

func (p *patch) element(i int, op string, value, old jsontext.Value) {
	if p.full() {
		return
	}
	p.at = append(p.at, strconv.Itoa(i))
	p.add(op, value, old)
	p.at = p.at[:len(p.at)-1]
}

// pointerEscapes escapes a token of a JSON Pointer (RFC 6901).
var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// add writes an operation for the current place.
func (p *patch) add(op string, value, old jsontext.Value) {
	var path strings.Builder
	for _, name := range p.at {
		path.WriteString("/" + pointerEscapes.Replace(name))
	}
	if len(p.text) > 1 {
		p.text = append(p.text, ',')
	}
	w := events.NewObjectWriter(p.text)
	w.String("op", op)
	w.String("path", path.String())
	if value != nil {
		w.Raw("value", value)
	}
	if old != nil {
		w.Raw("old", old)
	}
	p.text = w.End()
}

// equal reports whether two values are equal, comparing numbers by their text.
func equal(a, b jsontext.Value) bool {
	return bytes.Equal(a, b) || a.Kind() == b.Kind() && bytes.Equal(canonical(a), canonical(b))
}

func canonical(v jsontext.Value) jsontext.Value {
	v = v.Clone()
	_ = v.Format(jsontext.ReorderRawObjects(true)) // it is valid
	return v
}

// elements returns the raw elements of a list.
func elements(list jsontext.Value) (all []jsontext.Value) {
	_ = jsonv2.Unmarshal(list, &all) // it was checked
	return all
}
