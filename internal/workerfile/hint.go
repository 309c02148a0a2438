package workerfile

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// unknownKey returns an error for a key that is unknown, or that belongs elsewhere. in is the type
// of its mapping, or nil if it is unknown.
func (d *document) unknownKey(at jsontext.Pointer, known []string, in reflect.Type) error {
	key := at.LastToken()
	hint := "known are " + list(known)
	if home := cmp.Or(d.home(at.Parent(), key), memberWith(in, key)); home != "" {
		hint = fmt.Sprintf("it belongs to %s: indent it deeper, below that", home)
	} else if best := kind.Closest(key, known); best != "" {
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

// home returns where a key belongs that was written next to the hooks, or next to the section of a
// hook. It returns "" if that is unknown.
func (d *document) home(mapping jsontext.Pointer, key string) string {
	switch {
	case mapping == "" && (d.kinds[key].Build != nil || slices.Contains(fieldNames[hookText](), key)):
		return "a hook"
	case mapping.Parent() != "/hooks":
		return ""
	}
	for _, name := range names(d.kinds) {
		config := reflect.TypeOf(d.kinds[name].Config)
		if slices.Contains(fieldNamesOf(config), key) {
			return name
		}
		for _, list := range fieldNamesOf(config) {
			if slices.Contains(fieldNamesOf(elementOf(config, list)), key) {
				return name + "." + list
			}
		}
	}
	return ""
}

// memberWith returns the only member of a struct that is a mapping with the key, or "" if there are
// none or several.
func memberWith(in reflect.Type, key string) (member string) {
	if in == nil || underlying(in).Kind() != reflect.Struct {
		return ""
	}
	for _, f := range reflect.VisibleFields(underlying(in)) {
		if f.Type.Kind() != reflect.Pointer || !slices.Contains(fieldNamesOf(f.Type), key) {
			continue
		}
		if member != "" {
			return ""
		}
		member, _, _ = strings.Cut(f.Tag.Get("json"), ",")
	}
	return member
}

// elementOf returns the type of the elements of a struct's list, or nil if the member is not a
// list.
func elementOf(t reflect.Type, name string) reflect.Type {
	for _, f := range reflect.VisibleFields(t) {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name && f.Type.Kind() == reflect.Slice {
			return f.Type.Elem()
		}
	}
	return nil
}

// underlying returns the type that a pointer type points to, and any other type unchanged.
func underlying(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// fieldNames returns the keys that a struct accepts.
func fieldNames[T any]() []string { return fieldNamesOf(reflect.TypeFor[T]()) }

func fieldNamesOf(t reflect.Type) []string {
	if t == nil {
		return nil
	}
	if t = underlying(t); t.Kind() != reflect.Struct {
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

const wholeNumber = "a whole number"

// typeWord returns the name of a Go type in YAML terms.
func typeWord(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return typeWord(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return wholeNumber
	case reflect.Float32, reflect.Float64:
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
