package kind

import "github.com/hookrouter/hookrouter/pkg/events"

// Document returns a writer of the JSON object that external programs and policies get for an
// event. It contains everything about the event except its data.
func Document(ev events.Event) events.ObjectWriter {
	w := events.NewObjectWriter(make([]byte, 0, len(ev.Data)+512))
	w.String("event", ev.Name)
	w.String("session_id", ev.Session)
	w.String("event_id", ev.ID)
	w.String("source", ev.Source)
	w.String("time", ev.Time)
	return w
}
