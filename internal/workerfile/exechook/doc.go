// Package exechook is the hook kind exec: a command that gets the event on its
// standard input and answers on its standard output.
//
// # Usage
//
// [New] checks a [Config] and returns the handler. For each event the command is
// started anew and reads one JSON document:
//
//	{"event":"tool:pre","session_id":"…","event_id":"…","source":"…","time":"…","data":{…}}
//
// It answers a HookResult as JSON; no output means continue. Its standard error
// is for people: its last line is part of the error where the command fails.
//
// In the dialect [ClaudeCode] the command is a hook script of Claude Code, as it is:
// it reads what Claude Code would have written, and its exit code and output mean
// what they mean there. Package claudescript says what becomes of them. An event that
// Claude Code has no hook for, or that the matcher does not take, is let pass without
// a command.
//
// A resident command is started once and gets each event as a line, with an id in front;
// package resident says how it answers. Only a worker can keep one: see [Build].
//
// # Environment
//
// The command sees the variables whose names are listed, and HOOK_EVENT,
// HOOK_SESSION_ID, HOOK_EVENT_ID and HOOK_RUN, HOOK_CHAIN_ID where a router called, and
// TRACEPARENT where there is a trace. Nothing else of the worker's environment
// reaches it. In dialect claude-code, CLAUDE_PROJECT_DIR is the directory that the
// command runs in.
//
// # Failure
//
// An exit code other than 0 (and 2 in dialect claude-code), output that is no HookResult or is longer than
// allowed, and a command that is not done when the context is over are errors:
// the hook could not decide, and its on_failure does. A command that isn't there
// or may not be executed, a script that its interpreter won't find, and a line or a
// script that its shell can't read are errors of New.
//
// # Processes
//
// Package process runs the command and says what becomes of its children.
//
// # Concurrency
//
// The handler may be called by any number of goroutines. At most
// Config.Concurrency commands run at once; a call beyond that waits for its turn
// until its context is over.
package exechook
