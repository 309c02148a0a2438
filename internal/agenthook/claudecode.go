package agenthook

import (
	"time"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// claudeCode returns the dialect of Claude Code. A changed input is returned without a permission
// decision, so the user's own permission rules still apply to it.
func claudeCode() Dialect {
	return Dialect{
		Name: "claude-code", Agent: "Claude Code", Tried: "2.1.332", Oldest: "2.1.101",
		Timeout: 600 * time.Second, EventMember: "hook_event_name", FailsOpenBefore: "2.1.295",
		Rename: map[string]string{"tool_response": "tool_result"}, SessionEnv: "CLAUDE_CODE_SESSION_ID",
		Events: []Event{
			{Native: "SessionStart", Name: events.SessionStart, Inject: true, Message: true},
			{Native: "UserPromptSubmit", Name: events.PromptSubmit, Deny: Stops, Inject: true, Message: true, Timeout: 30 * time.Second},
			{Native: "PreToolUse", Name: events.ToolPre, Deny: Stops, Modify: "tool_input", Inject: true, Message: true},
			{Native: "PreSkillShellCommand", Name: events.ToolPre, Deny: Stops, Message: true, Since: "2.1.332"},
			{Native: "ConfigChange", Name: events.ToolPre, Deny: Stops, Message: true, call: configChange},
			{Native: "PermissionRequest", Name: events.ApprovalRequired, Deny: Stops, Message: true},
			{Native: "PermissionDenied", Name: events.ApprovalDenied},
			{Native: "PostToolUse", Name: events.ToolPost, Deny: Hides, Modify: "tool_result", Inject: true, Message: true, fits: keepsForm, withhold: withholdClaude},
			{Native: "PostToolUseFailure", Name: events.ToolError, Inject: true, Message: true},
			{Native: "SubagentStart", Name: events.AgentSpawn, Inject: true, Message: true, Copy: subagent},
			{Native: "SubagentStop", Name: events.AgentComplete, Deny: KeepsOn, Message: true, Copy: subagent},
			{Native: "Stop", Name: events.PromptComplete, Deny: KeepsOn, Message: true},
			{Native: "StopFailure", Name: events.ProviderError},
			{Native: "PreCompact", Name: events.ContextPreCompact, Deny: Stops, Message: true},
			{Native: "PostCompact", Name: events.ContextPostCompact, Message: true},
			{Native: "Notification", Name: events.UserNotification},
			{Native: "SessionEnd", Name: events.SessionEnd, Timeout: 1500 * time.Millisecond},
		},
		Notes: []string{
			"A killed `PostToolUse` hook hides nothing.",
			"After an approval, Claude Code's permission rules may still ask.",
			"Files named with @ in a prompt or SKILL.md (its `Read` deny rules stop these) and tools' programs fire no hook. Those in a skill's arguments are judged. connect has `CLAUDE.md` import only `*.md`.",
			"Hooks of skills and agents run, and change judged inputs, unless managed settings have `allowManagedHooksOnly`.",
			"`ConfigChange` is judged as a write; a denial keeps the old settings or skill, except managed settings.",
		},
		write: func(e Event, a answer) any {
			out := writeClaude(e, a)
			switch {
			case a.stop:
				out.Continue, out.StopReason = new(bool), a.reason
			case a.changed != nil && e.Modify == "tool_input":
				out.specific(e).UpdatedInput = a.changed
			case a.changed != nil:
				out.specific(e).UpdatedToolOutput = a.changed
			}
			return out
		},
	}
}

// subagent maps the parent session and the name of a sub-agent to members of the agent's document.
var subagent = map[string]string{"parent_session_id": "session_id", "agent_name": "agent_type"}

// configChange returns a change of settings or skills as a call that writes to the file. Without
// it, a program could switch the hooks of the running session off.
func configChange(document events.Object) (tool string, input []byte) {
	path, ok := document.GetString("file_path")
	if !ok || path == "" {
		path = "~/.claude/settings.json"
	}
	w := events.NewObjectWriter(nil)
	w.String("file_path", path)
	return "ConfigChange", w.End()
}
