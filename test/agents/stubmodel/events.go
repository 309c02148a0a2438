package stubmodel

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
)

// events is a stream of server-sent events.
type events struct {
	w    http.ResponseWriter
	sent int
}

func newEvents(w http.ResponseWriter) *events {
	w.Header().Set("Content-Type", "text/event-stream")
	return &events{w: w}
}

// send sends an event. If name is empty, it sends only data.
func (s *events) send(name string, data object) {
	if name != "" {
		fmt.Fprintf(s.w, "event: %s\n", name)
	}
	b, _ := json.Marshal(data) // always encodes
	fmt.Fprintf(s.w, "data: %s\n\n", b)
	_ = http.NewResponseController(s.w).Flush()
	s.sent++
}

// with returns a copy of an object with the members of another one added or replaced.
func with(o, other object) object {
	o = maps.Clone(o)
	maps.Copy(o, other)
	return o
}

// objects returns the elements of a list that are objects.
func objects(v any) (all []object) {
	list, _ := v.([]any)
	for _, e := range list {
		if o, ok := e.(object); ok {
			all = append(all, o)
		}
	}
	return all
}

func text(v any) string { s, _ := v.(string); return s }
