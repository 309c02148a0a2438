// Package events is what travels: event names, their subjects on the bus, the
// CloudEvents 1.0 codec of the wire protocol, the JSON rules for incoming data, typed data
// for the standard events, and the normal form of tool calls.
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
// Event data is a JSON object that is never decoded and encoded again on its
// way: [ParseObject] checks it once and remembers where its members are, and
// everything after that moves bytes. So 64-bit integers survive, and the
// SHA-256 of the data means the same thing everywhere.
//
// # Tools
//
// Each agent has names of its own for its tools and their input: Bash, shell,
// run_shell_command. [ToolOf] gives the normal form of a call, a [Tool] with a class,
// the command, the paths; the data stays as it was sent. A guard asks for what is
// certain: a tool that nobody knows is Known false, and one that the form doesn't
// tell in full is Partial. A call may hold other calls: [ToolsOf] gives all of them.
//
// # Concurrency
//
// Everything here is a value or a pure function; nothing holds a lock.
package events
