package agenthook

import (
	"fmt"
	"slices"
	"time"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// goose returns the dialect of Goose, which supports denials only.
func goose() Dialect {
	return Dialect{
		Name: "goose", Agent: "Goose", Tried: "1.52.0",
		Timeout: 30 * time.Second, EventMember: "event",
		Rename: map[string]string{"event": "hook_event_name", "message": "prompt", "working_dir": "cwd"}, SessionEnv: "AGENT_SESSION_ID",
		Events: []Event{
			{Native: "SessionStart", Name: events.SessionStart},
			{Native: "UserPromptSubmit", Name: events.PromptSubmit},
			{Native: "PreToolUse", Name: events.ToolPre, Deny: Stops, ungates: gooseUngates},
			{Native: "PostToolUse", Name: events.ToolPost},
			{Native: "PostToolUseFailure", Name: events.ToolError},
			{Native: "Stop", Name: events.PromptComplete},
			{Native: "SessionEnd", Name: events.SessionEnd},
		},
		Notes: []string{
			"A change of a tool's input is a denial, with the change as the reason.",
			"It takes no context and shows its user nothing; hook-agent says both on standard error.",
			"`delegate` and `execute_typescript` are denied: Goose fires no hook for tools that they call.",
			"A prompt can't be refused.",
			"Crashes, time-outs and unreadable output let Goose go on without \"on_failure\": \"block\", which `hookctl connect` writes.",
		},
		write: func(_ Event, a answer) any {
			if !a.deny {
				return nil
			}
			return map[string]string{"decision": "block", "reason": a.reason}
		},
	}
}

// gooseUngates denies the tools that call other tools, for which Goose fires no hook.
func gooseUngates(tool string, _ Options) string {
	if !slices.Contains([]string{"delegate", "execute_typescript"}, tool) {
		return ""
	}
	return fmt.Sprintf("Goose fires no hook for the tools that %s calls: call them yourself.", tool)
}
