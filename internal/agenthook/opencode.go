package agenthook

import (
	"encoding/json"
	"time"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// opencodeOutput is the output that the plug-in for OpenCode expects.
type opencodeOutput struct {
	Deny    string          `json:"deny,omitempty"`
	Args    json.RawMessage `json:"args,omitempty"`
	Output  json.RawMessage `json:"output,omitempty"`
	Prompt  json.RawMessage `json:"prompt,omitempty"`
	Context string          `json:"context,omitempty"`
	Message string          `json:"message,omitempty"`
}

// opencode returns the dialect of the plug-in for OpenCode: see [Plugin].
func opencode() Dialect {
	return Dialect{
		Name: "opencode", Agent: "OpenCode", Tried: "1.18.34",
		Timeout: 600 * time.Second, EventMember: "hook_event_name",
		Events: []Event{
			{Native: "session.created", Name: events.SessionStart, Message: true},
			{Native: "chat.message", Name: events.PromptSubmit, Deny: Stops, Modify: "prompt", Inject: true, Message: true},
			{Native: "tool.execute.before", Name: events.ToolPre, Deny: Stops, Modify: "tool_input", Message: true},
			{Native: "tool.execute.after", Name: events.ToolPost, Deny: Hides, Modify: "tool_result", Text: "output", Inject: true, Message: true},
			{Native: "session.idle", Name: events.PromptComplete, Message: true},
			{Native: "session.compacted", Name: events.ContextPostCompact, Message: true},
			{Native: "session.error", Name: events.ErrorOrchestration, Message: true},
			{Native: "session.deleted", Name: events.SessionEnd, Message: true},
		},
		Notes: []string{
			"The plug-in that `hookctl connect` writes starts hook-agent, and denies if that fails.",
			"Context added before a tool runs is lost; the user is told.",
			"Files named with @ in prompts, sub-agents' too, are judged as `read`.",
			"Shell parts of custom commands are not gated.",
			"`permission.ask` is never called by OpenCode; hook-agent holds the call itself.",
		},
		write: func(e Event, a answer) any {
			out := opencodeOutput{Context: a.context, Message: a.message}
			switch {
			case a.deny:
				out.Deny = a.reason
			case a.changed != nil && e.Modify == "tool_input":
				out.Args = a.changed
			case a.changed != nil && e.Modify == "prompt":
				out.Prompt = a.changed
			case a.changed != nil:
				out.Output = a.changed
			}
			return out
		},
		block: func(reason string) any { return opencodeOutput{Deny: reason} },
	}
}
