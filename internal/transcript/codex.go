package transcript

import (
	"cmp"
	"encoding/json"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// item is the content of a line of Codex.
type item struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Cwd       string          `json:"cwd"`
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"`
	CallID    string          `json:"call_id"`
	Arguments json.RawMessage `json:"arguments"`
	Input     json.RawMessage `json:"input"`
	Action    json.RawMessage `json:"action"`
	Output    json.RawMessage `json:"output"`
	Message   string          `json:"message"`
}

// ofCodex returns the events of a line of Codex.
func (s *session) ofCodex(kind string, payload json.RawMessage) []events.Event {
	var i item
	if json.Unmarshal(payload, &i) != nil {
		return nil
	}
	switch kind {
	case "session_meta":
		s.id, s.cwd = cmp.Or(i.ID, s.id), cmp.Or(i.Cwd, s.cwd)
		return nil
	case "turn_context":
		s.cwd = cmp.Or(i.Cwd, s.cwd)
		return nil
	case "event_msg":
		if i.Type != "user_message" || i.Message == "" {
			return nil
		}
		return s.prompt(i.Message)
	}
	switch i.Type {
	case "function_call":
		return s.call(i.CallID, i.Namespace+i.Name, i.Arguments)
	case "custom_tool_call":
		return s.call(i.CallID, i.Name, i.Input)
	case "local_shell_call":
		return s.call(cmp.Or(i.CallID, i.ID), "local_shell", localShell(i.Action))
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		return s.result(cmp.Or(i.CallID, i.ID), i.Output)
	case "":
		s.id = cmp.Or(i.ID, s.id) // the first line in older versions
	}
	return nil
}

// localShell returns the input of the shell tool that is built into the model.
func localShell(action json.RawMessage) json.RawMessage {
	var a struct {
		Command json.RawMessage `json:"command"`
		Dir     string          `json:"working_directory"`
	}
	if json.Unmarshal(action, &a) != nil || len(a.Command) == 0 {
		return action
	}
	input, err := json.Marshal(map[string]any{"command": a.Command, "workdir": a.Dir})
	if err != nil {
		return action
	}
	return input
}
