package agenthook

import (
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// codex returns the dialect of Codex. Codex ignores a hook whose output has an unknown field, and
// continues.
func codex() Dialect {
	return Dialect{
		Name: "codex", Agent: "Codex", Tried: "0.171.0",
		Timeout: 600 * time.Second, EventMember: "hook_event_name", FailsOpen: true,
		Rename: map[string]string{"tool_response": "tool_result"}, SessionEnv: "CODEX_THREAD_ID",
		Events: []Event{
			{Native: "SessionStart", Name: events.SessionStart, Inject: true, Message: true},
			{Native: "UserPromptSubmit", Name: events.PromptSubmit, Deny: Stops, Inject: true, Message: true},
			{Native: "PreToolUse", Name: events.ToolPre, Deny: Stops, Modify: "tool_input", Text: "command", fits: codexFits, ungates: codexUngates, Inject: true, Message: true},
			{Native: "PermissionRequest", Name: events.ApprovalRequired, Deny: Stops, Message: true},
			{Native: "PostToolUse", Name: events.ToolPost, Deny: Hides, Modify: "tool_result", AnyType: true, Inject: true, Message: true},
			{Native: "SubagentStart", Name: events.AgentSpawn, Inject: true, Message: true, Copy: subagent},
			{Native: "SubagentStop", Name: events.AgentComplete, Deny: KeepsOn, Message: true, Copy: subagent},
			{Native: "Stop", Name: events.PromptComplete, Deny: KeepsOn, Message: true},
			{Native: "PreCompact", Name: events.ContextPreCompact, Deny: Stops, Message: true},
			{Native: "PostCompact", Name: events.ContextPostCompact, Message: true},
			{Native: "SessionEnd", Name: events.SessionEnd, Timeout: time.Second},
		},
		Notes: []string{
			"Codex silently skips untrusted hooks: run /hooks and trust hook-agent, again whenever its command line changes. Hooks of the machine (`--scope managed`: /etc/codex/requirements.toml) need no trust and can't be switched off.",
			"Crashes, time-outs and unreadable output let it go on.",
			"OpenAI's tools, such as web search, fire no hook. A patch applied in a shell arrives as its command, without PostToolUse.",
			"Typing into a program that runs (`write_stdin`) fires no hook: connect sets `unified_exec_tty = false` below `[features]`, so it can't. A trusted project's config.toml can undo that and `hooks`, unless the scope is managed.",
			"Sub-agents need the scope managed: Codex reads its hooks anew for them.",
			"Output of a running program reaches the model **without PostToolUse**.",
			"Guards read a command as bash, whatever `shell` the model chose.",
			"The `cwd` of a shell command is the `workdir` that the model chose: path-guard's `outside` counts from there.",
			"Hooks get the environment of Codex, keys included.",
		},
		write: func(e Event, a answer) any {
			out := writeClaude(e, a)
			switch {
			case a.deny && e.Native == "PreCompact": // Codex supports no decision there
				out = claudeOutput{Continue: new(bool), StopReason: a.reason, SystemMessage: a.message}
			case a.changed != nil && e.Modify == "tool_input":
				out.specific(e).PermissionDecision = "allow" // Codex requires it for a changed input
				out.specific(e).UpdatedInput = a.changed
			case a.changed != nil:
				out.Decision, out.Reason = "block", instead(asText(a.changed)) // the reason replaces the result
			}
			return out
		},
	}
}

// codexFits reports whether Codex applies a changed input. It reads nothing but the command of what
// it runs in a shell and of a patch.
func codexFits(tool string, before, now jsontext.Value) bool {
	if tool != "Bash" && tool != "apply_patch" {
		return true
	}
	was, err1 := events.ParseObject(before)
	is, err2 := events.ParseObject(now)
	if err1 != nil || err2 != nil || takesAway(before, now) {
		return false
	}
	for name, value := range is.All() {
		if old, there := was.Get(name); name != "command" && (!there || !same(old, value)) {
			return false
		}
	}
	return true
}

// codexUngates denies the tools that start a sub-agent. Codex reads the settings anew for it, and any
// program may have removed the hooks by then, even after hook-agent looked at them.
func codexUngates(tool string, o Options) string {
	starts := func(name string) bool { return strings.HasSuffix(tool, name) } // after the tool's namespace
	if o.Managed || isMCP(tool) || !slices.ContainsFunc([]string{"spawn_agent", "resume_agent", "followup_task"}, starts) {
		return ""
	}
	return "Codex reads its hooks again for a sub-agent, and a program may have removed them: do this yourself. " +
		"For sub-agents, your user needs the hooks in the machine's settings only: `hookctl disconnect codex`, then as root `hookctl connect codex --scope managed`."
}
