package clientconn

import "github.com/hookrouter/hookrouter/internal/shorten"

// Shorten cuts a text of more than limit bytes, and marks the cut, so that a message with it is not
// too large.
func Shorten(text string, limit int) string { return shorten.Bytes(text, limit, "...[truncated]") }
