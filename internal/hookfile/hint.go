package hookfile

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/hookfile/kind"
)

// unknownKey is an error at a key that nobody knows.
func (d *document) unknownKey(at jsontext.Pointer, known []string) error {
	key := at.LastToken()
	hint := "known are " + list(known)
	if best := closest(key, known); best != "" {
		hint = fmt.Sprintf("did you mean %q?", best)
	}
	p := d.nearest(at)
	line, column := p.keyLine, p.keyColumn
	if line == 0 {
		line, column = p.line, p.column
	}
	return d.errorIn(line, column, at.Parent(), fmt.Errorf("unknown key %q: %s", key, hint))
}

var (
	quoted   = regexp.MustCompile(`"(\\.|[^"\\])*"|'[^']*'`)
	loneStar = regexp.MustCompile(`(^|[\s\[,])\*([\s\],}]|$)`)
)

// quotingHint is what to do where a line that is no YAML has characters that mean
// something in YAML, and something else in a worker file; empty elsewhere.
func (d *document) quotingHint(line int) string {
	if line < 1 || line > len(d.lines) {
		return ""
	}
	switch bare := quoted.ReplaceAllString(d.lines[line-1], ""); {
	case strings.Contains(bare, "{{"):
		return `: put a text with {{ }} in quotes, like "no {{ data.x }}"`
	case loneStar.MatchString(bare):
		return `: put * in quotes, like ["*"]`
	}
	return ""
}

// closest is the known name that key was probably meant to be, or empty.
func closest(key string, known []string) string {
	best, least := "", 1+len(key)/3
	for _, k := range known {
		if n := distance(strings.ToLower(key), k); n <= least {
			best, least = k, n-1
		}
	}
	return best
}

// distance is the number of letters to insert, delete or change between a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
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

func both(a, b string) string { return min(a, b) + " and " + max(a, b) }

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
