package agenthook

import (
	"time"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// qwen returns the dialect of Qwen Code: the output format of Claude Code with the tools of Gemini
// CLI.
func qwen() Dialect {
	return Dialect{
		Name: "qwen", Agent: "Qwen Code", Tried: "0.24.4",
		Timeout: 60 * time.Second, EventMember: "hook_event_name", FailsOpen: true,
		Rename: map[string]string{"tool_response": "tool_result"},
		Events: []Event{
			{Native: "SessionStart", Name: events.SessionStart, Inject: true, Message: true},
			{Native: "UserPromptSubmit", Name: events.PromptSubmit, Deny: Stops, Inject: true, Message: true, Skip: "prompt"},
			{Native: "PreToolUse", Name: events.ToolPre, Deny: Stops, Message: true},
			{Native: "PermissionRequest", Name: events.ApprovalRequired, Deny: Stops, Message: true},
			{Native: "PostToolUse", Name: events.ToolPost, Deny: Hides, Modify: "tool_result", AnyType: true, Inject: true, Message: true},
			{Native: "PostToolUseFailure", Name: events.ToolError, Inject: true, Message: true},
			{Native: "SubagentStart", Name: events.AgentSpawn, Inject: true, Message: true, Copy: subagent},
			{Native: "SubagentStop", Name: events.AgentComplete, Deny: KeepsOn, Message: true, Copy: subagent},
			{Native: "Stop", Name: events.PromptComplete, Deny: KeepsOn, Message: true},
			{Native: "StopFailure", Name: events.ProviderError},
			{Native: "PreCompact", Name: events.ContextPreCompact, Message: true},
			{Native: "PostCompact", Name: events.ContextPostCompact, Message: true},
			{Native: "Notification", Name: events.UserNotification},
			{Native: "SessionEnd", Name: events.SessionEnd},
		},
		Notes: []string{
			"Qwen Code documents that a hook may change a tool's input, and runs the original: a change is a denial, with the change as the reason.",
			"It fires UserPromptSubmit again with an empty prompt after tools; hook-agent lets these pass unasked.",
			"A crash, a time-out and output that it can't read let Qwen Code go on.",
		},
		write: func(e Event, a answer) any {
			switch {
			case a.deny && e.Name == events.ToolPost: // Qwen Code ignores a decision there
				return claudeOutput{Continue: new(bool), StopReason: a.reason, SystemMessage: a.message}
			case a.changed != nil:
				return claudeOutput{Continue: new(bool), StopReason: instead(asText(a.changed, "llmContent"), a.context), SystemMessage: a.message}
			}
			return writeClaude(e, a)
		},
	}
}
