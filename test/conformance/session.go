package conformance

import (
	"encoding/json"
	"maps"
	"slices"
)

// sessions returns the sessions that the data of the case's steps names, or own
// where it names none.
func (c Case) sessions(own string) []string {
	var ids []string
	for _, s := range c.Steps {
		if id := sessionIn(s.Data); id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if ids == nil {
		return []string{own}
	}
	return ids
}

// sessionIn is the session that an event's data names, empty where it names none.
func sessionIn(data json.RawMessage) string {
	v, err := decode(data)
	if err != nil {
		return ""
	}
	object, _ := v.(map[string]any)
	id, _ := object["session_id"].(string)
	return id
}

// contextManager is the scripted keeper of the conversation. What the router's
// Verdict hands to the agent is what is delivered here.
type contextManager struct {
	state  string // Present, Absent or Failing
	first  []any  // in the conversation from the start
	stored []any  // persistent messages delivered since
}

func newContextManager(c Case) (*contextManager, error) {
	m := &contextManager{state: c.Config.ContextManager}
	for _, raw := range c.ContextMessages {
		message, err := decode(raw)
		if err != nil {
			return nil, err
		}
		m.first = append(m.first, message)
	}
	return m, nil
}

// deliver takes the messages of one Verdict. It returns the persistent ones that
// reached the manager, the ephemeral ones, and the messages of the next model
// call. A manager that is failing is reached but keeps nothing.
func (m *contextManager) deliver(messages []any) (persistent, transient, request []any) {
	persistent, transient = []any{}, []any{}
	for _, message := range messages {
		fields, _ := message.(map[string]any)
		switch {
		case fields["ephemeral"] == true:
			transient = append(transient, message)
		case m.state != Absent:
			persistent = append(persistent, message)
		}
	}
	if m.state == Present {
		m.stored = append(m.stored, persistent...)
	}
	request = slices.Concat([]any{}, m.first, m.stored)
	for _, message := range transient {
		request = inject(request, message)
	}
	return persistent, transient, request
}

// inject puts an ephemeral message at the end of a model call, or into its last
// tool result where it asks for that.
func inject(request []any, message any) []any {
	fields, _ := message.(map[string]any)
	if fields["append_to_last_tool_result"] == true && len(request) > 0 {
		last, _ := request[len(request)-1].(map[string]any)
		content, okLast := last["content"].(string)
		text, okText := fields["content"].(string)
		if last["role"] == "tool" && okLast && okText {
			joined := maps.Clone(last)
			joined["content"] = content + "\n\n" + text
			return append(request[:len(request)-1:len(request)-1], joined)
		}
	}
	return append(request, message)
}

// reset begins a new session with the conversation it started from.
func (m *contextManager) reset() { m.stored = nil }
