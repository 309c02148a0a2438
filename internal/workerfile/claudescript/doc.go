// Package claudescript speaks the hook contract of Claude Code: it writes an event as
// the JSON document that a command hook of Claude Code reads, and reads what the
// command answered as a HookResult. It runs nothing itself.
//
// # Usage
//
// [CallOf] makes a [Call] of an event that has a counterpart. [Call.Input] is what
// the script reads, and [Call.Result] what its exit code and output mean.
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
// Exit code 2 and decision "block" deny, where Claude Code lets a hook block: for
// Stop and SubagentStop that means to go on working. After a tool has run they tell
// the model the reason; elsewhere they tell the user. What a HookResult has no word
// for becomes the nearest stricter thing:
//
//   - allow is continue: it permits nothing that another hook denies
//   - defer is ask, since an approval request may wait as long as it likes
//   - continue false denies, with the reason to stop; at Stop and SubagentStop, which
//     it ends, it lets them be
//   - ask together with a changed input denies: a person can't be asked about the
//     change
//   - context beside a denial or a change becomes part of its reason, which the agent
//     is shown; beside an approval request it is dropped
//   - sessionTitle, initialUserMessage, watchPaths, reloadSkills,
//     suppressOriginalPrompt, updatedPermissions, retry, terminalSequence and async
//     are passed over
//
// # Failure
//
// Output that begins like JSON and is none, has a member of a wrong type, an unknown
// decision, or the name of another event is an error: Claude Code passes such a hook
// over, here on_failure decides.
package claudescript
