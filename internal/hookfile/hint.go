package hookfile

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/hookfile/kind"
)

// unknownKey is an error at a key that nobody knows.
func (d *document) unknownKey(at jsontext.Pointer, known []string) error {
	key := at.LastToken()
	hint := "known are " + list(known)
	if best := kind.Closest(key, known); best != "" {
		hint = fmt.Sprintf("did you mean %q?", best)
	}
	p := d.nearest(at)
	line, column := p.keyLine, p.keyColumn
	if line == 0 {
		line, column = p.line, p.column
	}
	e := d.errorIn(line, column, at.Parent(), fmt.Errorf("unknown key %q: %s", key, hint))
	e.at, e.unknown = at, true
	return e
}

// fieldNames are the keys that a struct takes.
func fieldNames[T any]() []string { return fieldNamesOf(reflect.TypeFor[T]()) }

func fieldNamesOf(t reflect.Type) []string {
	if t == nil {
		return nil
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	var all []string
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			all = append(all, name)
		}
	}
	return all
}

func names(kinds map[string]kind.Kind) []string { return slices.Sorted(maps.Keys(kinds)) }

func list(names []string) string { return strings.Join(names, ", ") }

// typeWord says what a value of a Go type is called in YAML.
func typeWord(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return typeWord(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.String:
		return "a text (quote it)"
	case reflect.Slice:
		return "a list"
	default:
		return "a mapping (key: value)"
	}
}

func kindWord(k jsontext.Kind) string {
	switch k {
	case '{':
		return "a mapping"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case '0':
		return "a number"
	case 'n':
		return "empty"
	default:
		return "true or false"
	}
}
