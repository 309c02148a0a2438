// Package term writes what commands show: JSON, or text for people in columns and colors.
//
// Text that came from elsewhere may hold control characters. [Clean] drops them; [Printable]
// shows each by a sign of its own, for texts that people must judge.
package term
