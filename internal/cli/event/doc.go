// Package event has the commands about events: emit, execute, collect and contributions
// send them, explain shows who would handle one, watch shows them as they happen, and
// events lists the standard ones.
package event
