// Package exechook is the hook kind exec: a command that reads the event from its standard input
// and writes its answer to its standard output.
//
// # Usage
//
// [New] checks a [Config] and returns the handler. The handler starts the command for each event.
// The command reads one JSON document:
//
//	{"event":"tool:pre","session_id":"…","event_id":"…","source":"…","time":"…","data":{…}}
//
// It answers with a HookResult as JSON; no output means continue. Its standard error is for people.
// If the command fails, the last line is part of the error.
//
// In the dialect [ClaudeCode] the command is an unmodified hook script of Claude Code: it reads
// what Claude Code would have written, and its exit code and output mean what they mean there.
// Package claudescript describes the mapping. An event for which Claude Code has no hook, or that
// the matcher does not select, passes without running the command.
//
// A resident command is started once and reads each event as a line of JSON whose first member is
// an id; package resident describes how it answers. Only a worker can keep one: see [Build].
//
// # Environment
//
// The command sees the variables whose names are listed, and HOOK_EVENT, HOOK_SESSION_ID,
// HOOK_EVENT_ID and HOOK_RUN. If a router called, it also sees HOOK_CHAIN_ID, and if there is a
// trace, TRACEPARENT. Nothing else of the worker's environment reaches it. In dialect claude-code,
// CLAUDE_PROJECT_DIR is the command's working directory.
//
// # Failure
//
// An exit code other than 0 (and 2 in dialect claude-code), output that is not a HookResult or is
// too long, and a command that is still running when the context ends are errors: the hook could
// not decide, and its on_failure applies. A command that does not exist or may not be executed, a
// script that its interpreter would not find, and a line or a script that its shell can't parse are
// errors of New.
//
// # Processes
//
// Package process runs the command and handles its children.
//
// # Concurrency
//
// The handler is safe for concurrent use. At most Config.Concurrency commands run at once; further
// calls wait for a slot until their context ends.
package exechook
