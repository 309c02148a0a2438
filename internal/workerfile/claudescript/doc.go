// Package claudescript implements the hook contract of Claude Code: it writes an event as the JSON
// document that a command hook of Claude Code reads, and parses the command's answer as a
// HookResult. It runs no commands itself.
//
// # Usage
//
// [CallOf] makes a [Call] of an event that has a counterpart. [Call.Input] returns what the script
// reads, and [Call.Result] what its output means.
//
//	PreToolUse          tool:pre
//	PostToolUse         tool:post
//	PostToolUseFailure  tool:error
//	UserPromptSubmit    prompt:submit
//	Stop                prompt:complete, orchestrator:complete
//	SubagentStart       agent:spawn
//	SubagentStop        agent:complete
//	SessionStart        session:start, session:resume, session:fork
//	SessionEnd          session:end
//	PreCompact          context:pre_compact
//	PostCompact         context:post_compact
//	Notification        user:notification
//	PermissionRequest   approval:required
//	PermissionDenied    approval:denied
//	StopFailure         provider:error
//
// # Result
//
// Exit code 2 and decision "block" deny if Claude Code lets a hook block the event; for Stop and
// SubagentStop that makes the agent keep working. After a tool has run, the model is shown the
// reason; for other events, the user is. Anything that a HookResult can't express becomes the
// nearest stricter answer:
//
//   - allow is continue: it permits nothing that another hook denies
//   - defer is ask, since an approval request may wait for any length of time
//   - continue false denies, with the reason to stop; at Stop, SubagentStop and SessionEnd it
//     denies nothing, since the agent ends anyway
//   - ask together with a changed input denies: a person can't be asked about the change
//   - context with a denial or a change becomes part of the reason, which the agent is shown;
//     context with an approval request is dropped
//   - sessionTitle, initialUserMessage, watchPaths, reloadSkills, suppressOriginalPrompt,
//     updatedPermissions, retry, terminalSequence and async are ignored
//
// # Failure
//
// Output that begins like JSON but is invalid, has a member of the wrong type, an unknown decision,
// or the name of another event is an error. Claude Code ignores such a hook; here on_failure
// applies.
package claudescript
