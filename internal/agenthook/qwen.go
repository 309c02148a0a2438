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
			"A change of a tool's input is a denial, with the change as the reason: Qwen Code would run the original.",
			"Crashes, time-outs and unreadable output let it go on.",
			"Hooks of a skill run ungated, see all calls, and can turn a denial into a question.",
			"Custom commands' shell parts and files, and MCP servers added to the settings, fire no hook.",
		},
		write: func(e Event, a answer) any {
			switch {
			case a.deny && e.Name == events.ToolPost: // Qwen Code ignores a decision there
				return claudeOutput{Continue: new(bool), StopReason: a.reason, SystemMessage: a.message}
			case a.changed != nil:
				return claudeOutput{Continue: new(bool), StopReason: instead(asText(a.changed, "llmContent"), a.context), SystemMessage: a.message}
			}
			out := writeClaude(e, a)
			if a.deny && e.Name == events.ToolPre { // holds where the hook of a skill has the last word on the permission
				out.Continue, out.StopReason = new(bool), a.reason
			}
			return out
		},
	}
}
