package claudescript

import (
	"slices"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// The hook events of Claude Code that correspond to events.
const (
	sessionStart       = "SessionStart"
	sessionEnd         = "SessionEnd"
	userPromptSubmit   = "UserPromptSubmit"
	preToolUse         = "PreToolUse"
	postToolUse        = "PostToolUse"
	postToolUseFailure = "PostToolUseFailure"
	permissionRequest  = "PermissionRequest"
	permissionDenied   = "PermissionDenied"
	notification       = "Notification"
	subagentStart      = "SubagentStart"
	subagentStop       = "SubagentStop"
	stop               = "Stop"
	stopFailure        = "StopFailure"
	preCompact         = "PreCompact"
	postCompact        = "PostCompact"
)

// counterparts are the hook events that may correspond to an event, the usual one first. An adapter
// that passes on Claude Code's own input names the hook event in hook_event_name.
var counterparts = map[string][]string{
	events.SessionStart:         {sessionStart},
	events.SessionResume:        {sessionStart},
	events.SessionFork:          {sessionStart, subagentStart},
	events.SessionEnd:           {sessionEnd, subagentStop},
	events.PromptSubmit:         {userPromptSubmit},
	events.PromptComplete:       {stop, subagentStop},
	events.OrchestratorComplete: {stop, subagentStop},
	events.ToolPre:              {preToolUse},
	events.ToolPost:             {postToolUse},
	events.ToolError:            {postToolUseFailure},
	events.ApprovalRequired:     {permissionRequest},
	events.ApprovalDenied:       {permissionDenied},
	events.UserNotification:     {notification},
	events.AgentSpawn:           {subagentStart},
	events.AgentComplete:        {subagentStop},
	events.ProviderError:        {stopFailure},
	events.ContextPreCompact:    {preCompact},
	events.ContextPostCompact:   {postCompact},
}

// Known reports whether Claude Code has a hook for events of this name.
func Known(event string) bool {
	_, known := counterparts[events.Canonical(event)]
	return known
}

// Events returns the names of the events that correspond to a hook event of Claude Code, or nil if
// it is unknown.
func Events(hookEvent string) (names []string) {
	for name, all := range counterparts {
		if slices.Contains(all, hookEvent) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// counterpart returns the hook event that corresponds to an event, or "" if there is none.
func counterpart(event string, data events.Object) string {
	all := counterparts[events.Canonical(event)]
	if len(all) == 0 {
		return ""
	}
	if said, ok := data.GetString("hook_event_name"); ok && slices.Contains(all, said) {
		return said
	}
	return all[0]
}

// effect is the effect of a block: exit code 2, or decision "block".
type effect int

const (
	notes  effect = iota // the user is shown the reason
	tells                // the model is shown the reason: the tool has already run
	denies               // the operation is denied
)

// traits are the differences between the hook events.
type traits struct {
	subject  string // the member that a matcher is compared with; empty if there is none
	block    effect
	jsonOnly bool // exit code 2 does not block
	plain    bool // output that is not JSON is context for the model
}

var traitsOf = map[string]traits{
	sessionStart:       {subject: "source", plain: true},
	sessionEnd:         {subject: "reason"},
	userPromptSubmit:   {block: denies, plain: true},
	preToolUse:         {subject: "tool_name", block: denies},
	postToolUse:        {subject: "tool_name", block: tells},
	postToolUseFailure: {subject: "tool_name", block: tells},
	permissionRequest:  {subject: "tool_name", block: denies, jsonOnly: true},
	permissionDenied:   {subject: "tool_name"},
	notification:       {subject: "notification_type"},
	subagentStart:      {subject: "agent_type"},
	subagentStop:       {subject: "agent_type", block: denies},
	stop:               {block: denies},
	stopFailure:        {subject: "error"},
	preCompact:         {subject: "trigger", block: denies},
	postCompact:        {subject: "trigger"},
}
