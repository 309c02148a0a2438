// Package events defines events: their names, their subjects on the bus, the CloudEvents 1.0
// codec of the wire protocol, the JSON rules for incoming data, typed data for the standard
// events, and the normal form of tool calls.
//
// # Names
//
// An event name is one to eight parts of letters, digits, '_' and '-', joined
// by ':' ("tool:pre"). Some names are aliases of each other; [Canonical] gives
// the one spelling that matching uses, while subjects and hooks keep the name
// as it was emitted. Registrations hold patterns: a name, "domain:*" or "*".
//
// # Data
//
// Event data is a JSON object that is never decoded and encoded again: [ParseObject]
// checks it once and remembers where its members are; everything after that copies
// bytes. So 64-bit integers survive, and the SHA-256 of the data is the same
// everywhere.
//
// # Tools
//
// Each agent has its own names for tools and their input: Bash, shell,
// run_shell_command. [ToolOf] returns the normal form of a call, a [Tool] with a class,
// the command and the paths; the data stays as sent. An unknown tool is not Known, and
// one that the form doesn't describe in full is Partial. A call may hold other calls:
// [ToolsOf] returns all of them.
//
// # Concurrency
//
// Everything here is a value or a pure function; nothing holds a lock.
package events
