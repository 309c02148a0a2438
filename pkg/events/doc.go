// Package events defines events: their names, their NATS subjects, the CloudEvents 1.0 codec of the
// wire protocol, the JSON rules for incoming data, types for the data of standard events, and the
// normal form of tool calls.
//
// # Names
//
// An event name consists of one to eight parts of letters, digits, '_' and '-', joined by ':'
// ("tool:pre"). Some names are aliases of each other. [Canonical] returns the spelling that
// matching uses; subjects and hooks keep the name as it was emitted. Registrations hold patterns: a
// name, "domain:*" or "*".
//
// # Data
//
// Event data is a JSON object that is never decoded and encoded again. [ParseObject] checks it once
// and indexes its members; everything else copies bytes. 64-bit integers survive, and the SHA-256
// of the data is the same everywhere.
//
// # Tools
//
// Every agent has its own names for tools and their input: Bash, shell, run_shell_command. [ToolOf]
// returns the normal form of a call, a [Tool] with a class, the command and the paths; the data is
// not changed. Known is false for an unknown tool, and Partial is true if the normal form does not
// describe the call completely. A call may contain other calls: [ToolsOf] returns all of them.
//
// # Concurrency
//
// All functions are safe for concurrent use.
package events
