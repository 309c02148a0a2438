package agenthook

import "encoding/json"

// claudeOutput is the output that Claude Code, Codex and Qwen Code expect of a hook.
type claudeOutput struct {
	Continue      *bool           `json:"continue,omitempty"`
	StopReason    string          `json:"stopReason,omitempty"`
	Decision      string          `json:"decision,omitempty"`
	Reason        string          `json:"reason,omitempty"`
	SystemMessage string          `json:"systemMessage,omitempty"`
	Specific      *claudeSpecific `json:"hookSpecificOutput,omitempty"`
}

type claudeSpecific struct {
	HookEventName            string          `json:"hookEventName"`
	PermissionDecision       string          `json:"permissionDecision,omitempty"`
	PermissionDecisionReason string          `json:"permissionDecisionReason,omitempty"`
	UpdatedInput             json.RawMessage `json:"updatedInput,omitempty"`
	UpdatedToolOutput        json.RawMessage `json:"updatedToolOutput,omitempty"`
	AdditionalContext        string          `json:"additionalContext,omitempty"`
	Decision                 *claudeBehavior `json:"decision,omitempty"`
}

type claudeBehavior struct {
	Behavior string `json:"behavior"`
	Message  string `json:"message,omitempty"`
}

// writeClaude returns the output except for a change, for which the agents differ.
func writeClaude(e Event, a answer) claudeOutput {
	out := claudeOutput{SystemMessage: a.message}
	specific := claudeSpecific{HookEventName: e.Native, AdditionalContext: a.context}
	switch {
	case a.deny && (e.Native == "PreToolUse" || e.Native == "PreSkillShellCommand"):
		specific.PermissionDecision, specific.PermissionDecisionReason = "deny", a.reason
	case a.deny && e.Native == "PermissionRequest":
		specific.Decision = &claudeBehavior{"deny", a.reason}
	case a.deny:
		out.Decision, out.Reason = "block", a.reason
	}
	if a.context != "" || specific.PermissionDecision != "" || specific.Decision != nil {
		out.Specific = &specific
	}
	return out
}

// specific returns the event-specific part of the output, and adds it if missing.
func (o *claudeOutput) specific(e Event) *claudeSpecific {
	if o.Specific == nil {
		o.Specific = &claudeSpecific{HookEventName: e.Native}
	}
	return o.Specific
}
