package agenthook

import (
	"encoding/json"
	"time"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// copilotOutput is the output that Copilot CLI expects of a hook whose event name starts in lower
// case.
type copilotOutput struct {
	PermissionDecision       string          `json:"permissionDecision,omitempty"`
	PermissionDecisionReason string          `json:"permissionDecisionReason,omitempty"`
	ModifiedArgs             json.RawMessage `json:"modifiedArgs,omitempty"`
	ModifiedPrompt           json.RawMessage `json:"modifiedPrompt,omitempty"`
	ModifiedResult           any             `json:"modifiedResult,omitempty"`
	Behavior                 string          `json:"behavior,omitempty"`
	Message                  string          `json:"message,omitempty"`
	Decision                 string          `json:"decision,omitempty"`
	Reason                   string          `json:"reason,omitempty"`
	AdditionalContext        string          `json:"additionalContext,omitempty"`
}

type copilotResult struct {
	ResultType string `json:"resultType"`
	Text       string `json:"textResultForLlm"`
}

// copilot returns the dialect of Copilot CLI, with the event names that start in lower case.
func copilot() Dialect {
	return Dialect{
		Name: "copilot", Agent: "Copilot CLI", Tried: "1.0.102",
		Timeout: 30 * time.Second, EventMember: "hookName",
		Foreign: []string{"hook_event_name", "hookEventName"},
		Rename: map[string]string{
			"hookName": "hook_event_name", "sessionId": "session_id", "transcriptPath": "transcript_path",
			"toolName": "tool_name", "toolArgs": "tool_input", "toolInput": "tool_input", "toolResult": "tool_result",
			"agentName": "agent_name", "customInstructions": "custom_instructions",
		},
		Events: []Event{
			{Native: "sessionStart", Name: events.SessionStart, Inject: true},
			{Native: "userPromptSubmitted", Name: events.PromptSubmit, Deny: Hides, Modify: "prompt", Inject: true},
			{Native: "preToolUse", Name: events.ToolPre, Deny: Stops, Modify: "tool_input", Inject: true},
			{Native: "permissionRequest", Name: events.ApprovalRequired, Deny: Stops},
			{Native: "postToolUse", Name: events.ToolPost, Deny: Hides, Modify: "tool_result", Text: "textResultForLlm", Inject: true},
			{Native: "postToolUseFailure", Name: events.ToolError},
			{Native: "subagentStart", Name: events.AgentSpawn, Inject: true, Copy: map[string]string{"parent_session_id": "sessionId"}},
			{Native: "subagentStop", Name: events.AgentComplete, Deny: KeepsOn, Copy: map[string]string{"parent_session_id": "sessionId"}},
			{Native: "agentStop", Name: events.PromptComplete, Deny: KeepsOn},
			{Native: "errorOccurred", Name: events.ErrorOrchestration},
			{Native: "preCompact", Name: events.ContextPreCompact},
			{Native: "notification", Name: events.UserNotification, Inject: true},
			{Native: "sessionEnd", Name: events.SessionEnd},
		},
		Notes: []string{
			"Time-outs and unreadable output let Copilot CLI go on; a crash stops the tool.",
			"The hook's command names the event, as `hookctl connect` writes it; a name not in the table is blocked.",
			"A denied prompt is replaced by the reason.",
			"Messages to the user go to standard error.",
			"MCP servers of a custom agent start ungated.",
			"VS Code may run the same files: its prompts and tools are blocked.",
		},
		write: writeCopilot,
		block: func(reason string) any {
			return copilotOutput{
				PermissionDecision: "deny", PermissionDecisionReason: reason, Behavior: "deny", Message: reason, Decision: "block", Reason: reason,
				ModifiedPrompt: quote(reason), ModifiedResult: copilotResult{"success", reason},
			}
		},
	}
}

func writeCopilot(e Event, a answer) any {
	out := copilotOutput{AdditionalContext: a.context}
	switch {
	case a.deny && e.Native == "preToolUse":
		out.PermissionDecision, out.PermissionDecisionReason = "deny", a.reason
	case a.deny && e.Native == "permissionRequest":
		out.Behavior, out.Message = "deny", a.reason
	case a.deny && e.Native == "postToolUse":
		out.ModifiedResult = copilotResult{"success", a.reason}
	case a.deny && e.Modify == "prompt":
		out.ModifiedPrompt = quote(a.reason)
	case a.deny:
		out.Decision, out.Reason = "block", a.reason
	case a.changed != nil && e.Modify == "tool_input":
		out.ModifiedArgs = a.changed
	case a.changed != nil && e.Modify == "prompt":
		out.ModifiedPrompt = a.changed
	case a.changed != nil:
		out.ModifiedResult = a.changed
	}
	return out
}
