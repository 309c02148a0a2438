package agenthook

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// unread reports an event that passes although its message can't be read, so that a malformed
// message does not keep a result out of the audit log.
func (h *Hook) unread(ctx context.Context, document []byte, cause error) {
	in, _ := readInput(h.Dialect, h.Native, document)
	if !in.known || in.event.Gated() {
		return
	}
	in.members = readLenient(h.Dialect, document)
	ctx, cancel := context.WithTimeout(ctx, h.timeout(in.event))
	defer cancel()
	h.unseen(in, cause, func(data any) error {
		if h.Router != nil {
			_, err := h.Router.Emit(ctx, Sent{Source: h.Dialect.source(), Name: UncheckedEvent, Data: marshal(data)})
			return err
		}
		client, err := h.connect(ctx)
		if err != nil {
			return err
		}
		defer client.Conn().Close()
		a, err := agent.New(client, agent.Options{Source: h.Dialect.source()})
		if err == nil {
			_, err = a.Emit(ctx, UncheckedEvent, data)
		}
		return err
	})
}

// readLenient returns the members that a report quotes, from a message that can't be read as event
// data.
func readLenient(d Dialect, document []byte) events.Object {
	var all map[string]any
	_ = json.Unmarshal(document, &all) // nil if the document is not JSON
	quoted := map[string]string{}
	for name, value := range all {
		text, is := value.(string)
		if name = cmp.Or(d.Rename[name], name); is && (name == "session_id" || name == "tool_name") {
			quoted[name] = text
		}
	}
	o, _ := events.ParseObject(marshal(quoted)) // valid: a map of strings
	return o
}
