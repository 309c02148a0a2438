// Package event implements the commands for events: emit, execute, collect and contributions send
// them, explain shows which hooks would handle one, watch shows them live, and events lists the
// standard ones.
package event
