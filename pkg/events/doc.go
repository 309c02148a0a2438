// Package events is what travels: event names, their subjects on the bus, the
// CloudEvents 1.0 codec of the wire protocol, the JSON rules at the door, and
// typed data for the standard events.
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
// # Concurrency
//
// Everything here is a value or a pure function; nothing holds a lock.
package events
