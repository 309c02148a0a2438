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

// send sends an event; one without a name is data only.
func (s *events) send(name string, data object) {
	if name != "" {
		fmt.Fprintf(s.w, "event: %s\n", name)
	}
	b, _ := json.Marshal(data) // made of texts and numbers
	fmt.Fprintf(s.w, "data: %s\n\n", b)
	_ = http.NewResponseController(s.w).Flush()
	s.sent++
}

// with is an object with other members.
func with(o, other object) object {
	o = maps.Clone(o)
	maps.Copy(o, other)
	return o
}

// objects are the members of a list that are objects.
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
