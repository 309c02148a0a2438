// Package textdiff compares two texts. It returns the changed lines with some context, and the
// changed words in a line.
//
// It is designed for hostile input: the work is bounded, and texts that are too large are shown as
// removed and added as a whole, never omitted silently. It does not sanitize text for display; the
// caller must do that.
package textdiff
