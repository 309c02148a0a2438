package celhook_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/workerfile/celhook"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// FuzzModify sets and removes arbitrary paths in arbitrary data. The result is valid data, and has
// what was set.
func FuzzModify(f *testing.F) {
	f.Add("a.b", "c", `{"a":{"b":1},"c":[2]}`)
	f.Add("/a~1b/c", "a.b.c", `{"a/b":{},"a":{"b":{"c":null}}}`)
	f.Add("é", "/", `{"\u00e9":1e400}`)
	f.Fuzz(func(t *testing.T, set, remove, data string) {
		if _, err := events.ParseObject([]byte(data)); err != nil {
			return
		}
		h, err := compile(celhook.Config{Rules: []celhook.Rule{{Modify: &celhook.Modify{
			Set: map[string]celhook.Source{set: "'here'"}, Remove: []string{remove},
		}}}})
		if err != nil {
			if _, ok := errors.AsType[*kind.FieldError](err); !ok {
				t.Errorf("New = %v; want a field", err)
			}
			return
		}
		result, err := h(t.Context(), events.Event{Data: json.RawMessage(data)})
		if err != nil {
			return
		}
		if _, err := events.ParseObject(result.Data); err != nil {
			t.Errorf("set %q, remove %q in %s made %s: %v", set, remove, data, result.Data, err)
		}
	})
}

// FuzzTemplate compiles and renders arbitrary text. An error has a position in the text, and plain
// text stays as it is.
func FuzzTemplate(f *testing.F) {
	for _, text := range []string{"plain", "{{ data.a }}", "{{", "a {{ '}}' }} b {{ {'a': {}} }}", "{{ \"\\\"}}\" }}", "}}", "é\n{{ x }}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.TrimSpace(text) == "" {
			return // without a reason
		}
		h, err := compile(celhook.Config{Rules: []celhook.Rule{{Deny: &text}}})
		if err != nil {
			var field *kind.FieldError
			if !errors.As(err, &field) || field.Line < 1 || field.Column < 1 {
				t.Errorf("New(%q) = %v; want a place", text, err)
			}
			return
		}
		if _, err := h(t.Context(), events.Event{Name: "x", Data: json.RawMessage(`{"a":"b"}`)}); err != nil {
			return
		}
	})
}
