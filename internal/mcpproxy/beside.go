package mcpproxy

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// paramsBeside are the parameters that hooks see nowhere else; nil for none. A progress token is
// bounded like an id, and new for each request: it is left out.
func paramsBeside(params events.Object, seen ...string) []byte {
	w, found := events.NewObjectWriter(nil), false
	for name, value := range params.All() {
		if name == "_meta" {
			value = withoutToken(value)
		}
		if value != nil && !slices.Contains(seen, name) {
			w.Raw(quoted(name), value)
			found = true
		}
	}
	if !found {
		return nil
	}
	return w.End()
}

// withoutToken is a _meta without its progress token; nil if nothing is left.
func withoutToken(raw jsontext.Value) jsontext.Value {
	meta, err := events.ParseObject(raw)
	if err != nil {
		return raw
	}
	w, found := events.NewObjectWriter(nil), false
	for name, value := range meta.All() {
		if name != "progressToken" || keyOf(value) == "" {
			w.Raw(quoted(name), value)
			found = true
		}
	}
	if !found {
		return nil
	}
	return w.End()
}
