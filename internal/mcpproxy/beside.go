package mcpproxy

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// paramsBeside returns an object with the parameters that are not in seen; nil for none. It omits a
// progress token, which is limited like an id and differs for each request.
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

// withoutToken returns a _meta without its progress token; nil if nothing is left.
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
