package shell

import (
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Covers reports whether the pattern accounts for every word of a command: they are
// the same one by one, and only a * at the pattern's end stands for any more. What
// the command writes to files is accounted for by no pattern, nor is a .. by a
// wildcard within a word: /repo/* does not lead out of /repo. A variable is accounted
// for by the pattern's own, or by being known to be harmless.
func (p Pattern) Covers(c Command) bool {
	open := func(a Assign) bool { return !a.Harmless() && !slices.ContainsFunc(p.assigns, a.is) }
	switch {
	case c.Writes() || slices.ContainsFunc(c.Assigns, open):
		return false
	case c.Name() == "":
		return len(c.Words) == 0 && len(c.Assigns) > 0
	}
	for i, pattern := range p.words {
		switch {
		case pattern == "*" && i > 0 && i == len(p.words)-1:
			return true
		case i >= len(c.Words):
			return false
		}
		w := c.Words[i]
		any := pattern == "*" && i > 0 && !w.Many && !w.Glob
		if !any && !w.is(pattern) {
			return false
		}
	}
	return len(c.Words) == len(p.words)
}

// is reports whether a word is certainly one of a pattern, and climbs no more than
// the pattern says.
func (w Word) is(pattern string) bool {
	return w.plain() && approval.Glob(pattern, w.Text) && climbs(w.Text) <= climbs(pattern)
}

// climbs is how often a path or an address leads to the directory above.
func climbs(text string) (times int) {
	text = strings.ReplaceAll(strings.ToLower(text), "%2e", ".")
	for name := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(`/\=`, r) }) {
		if name == ".." {
			times++
		}
	}
	return times
}

// is reports whether the assignment is certainly one of a pattern.
func (a Assign) is(pattern string) bool {
	name, value, _ := strings.Cut(pattern, "=")
	return approval.Glob(name, a.Name) && (value == "*" || a.Value.is(value))
}
