package agenthook

import (
	"encoding/json"
	"time"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// geminiOutput is the output that Gemini CLI expects of a hook.
type geminiOutput struct {
	Decision      string          `json:"decision,omitempty"`
	Reason        string          `json:"reason,omitempty"`
	SystemMessage string          `json:"systemMessage,omitempty"`
	Specific      *geminiSpecific `json:"hookSpecificOutput,omitempty"`
}

type geminiSpecific struct {
	HookEventName     string          `json:"hookEventName"`
	ToolInput         json.RawMessage `json:"tool_input,omitempty"`
	AdditionalContext string          `json:"additionalContext,omitempty"`
}

// gemini returns the dialect of Gemini CLI.
func gemini() Dialect {
	return Dialect{
		Name: "gemini", Agent: "Gemini CLI", Tried: "0.61.0",
		Timeout: 60 * time.Second, EventMember: "hook_event_name", FailsOpen: true,
		Rename: map[string]string{"tool_response": "tool_result"},
		Events: []Event{
			{Native: "SessionStart", Name: events.SessionStart, Inject: true, Message: true},
			{Native: "BeforeAgent", Name: events.PromptSubmit, Deny: Stops, Inject: true, Message: true},
			{Native: "BeforeTool", Name: events.ToolPre, Deny: Stops, Modify: "tool_input", Merges: true, Message: true},
			{Native: "AfterTool", Name: events.ToolPost, Deny: Hides, Modify: "tool_result", AnyType: true, Inject: true, Message: true},
			{Native: "AfterAgent", Name: events.PromptComplete, Deny: KeepsOn, Message: true},
			{Native: "PreCompress", Name: events.ContextPreCompact, Message: true},
			{Native: "Notification", Name: events.UserNotification, Message: true},
			{Native: "SessionEnd", Name: events.SessionEnd, Message: true},
		},
		Notes: []string{
			"Gemini CLI merges a changed input into its own: a change that takes a member away is a denial.",
			"Context added before a tool runs is lost; hook-agent says so.",
			"Crashes, time-outs and unreadable output let it go on.",
			"Tools are **not gated** where an editor runs it (`--acp`).",
			"Shell parts of custom commands are not gated.",
			"Hooks of a project run once the project is trusted.",
		},
		write: func(e Event, a answer) any {
			out := geminiOutput{SystemMessage: a.message}
			specific := geminiSpecific{HookEventName: e.Native, AdditionalContext: a.context}
			switch {
			case a.deny:
				out.Decision, out.Reason = "deny", a.reason
			case a.changed != nil && e.Modify == "tool_input":
				specific.ToolInput = a.changed
			case a.changed != nil:
				out.Decision, out.Reason = "deny", instead(asText(a.changed, "llmContent"), a.context) // the reason replaces the result
				specific.AdditionalContext = ""                                                        // Gemini CLI ignores it beside a reason
			}
			if specific.ToolInput != nil || specific.AdditionalContext != "" {
				out.Specific = &specific
			}
			return out
		},
	}
}
