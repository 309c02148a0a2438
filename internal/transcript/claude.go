package transcript

import (
	"encoding/json"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// block is a part of a message.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
}

// ofClaude returns the events of a message of Claude Code.
func (s *session) ofClaude(l record) (all []events.Event) {
	var message struct {
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(l.Message, &message) != nil {
		return nil
	}
	var text string
	if json.Unmarshal(message.Content, &text) == nil {
		if l.Type != "user" || l.IsMeta || text == "" {
			return nil
		}
		return s.prompt(text)
	}
	var blocks []json.RawMessage
	if json.Unmarshal(message.Content, &blocks) != nil {
		return nil
	}
	for _, raw := range blocks {
		var b block
		switch {
		case json.Unmarshal(raw, &b) != nil:
		case b.Type == "tool_use" && l.Type == "assistant":
			all = append(all, s.call(b.ID, b.Name, b.Input)...)
		case b.Type == "tool_result":
			all = append(all, s.result(b.ToolUseID, b.Content)...)
		case b.Type == "text" && l.Type == "user" && !l.IsMeta && b.Text != "":
			all = append(all, s.prompt(b.Text)...)
		}
	}
	return all
}
