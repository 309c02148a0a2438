package shell

import (
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Covers reports whether the pattern accounts for every word of a command. The words must match one
// by one, and only a * at the end of the pattern matches any number of them. No pattern accounts
// for output to files, nor does a wildcard within a word match "..": /repo/* does not lead out of
// /repo. A variable is accounted for if the pattern sets it too, or if it is known to be harmless.
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

// is reports whether a word certainly matches a word of a pattern, and has no more ".." than it.
func (w Word) is(pattern string) bool {
	return w.plain() && approval.Glob(pattern, w.Text) && climbs(w.Text) <= climbs(pattern)
}

// climbs returns how many ".." elements a path or URL has.
func climbs(text string) (times int) {
	text = strings.ReplaceAll(strings.ToLower(text), "%2e", ".")
	for name := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(`/\=`, r) }) {
		if name == ".." {
			times++
		}
	}
	return times
}

// is reports whether an assignment certainly matches one in a pattern.
func (a Assign) is(pattern string) bool {
	name, value, _ := strings.Cut(pattern, "=")
	return approval.Glob(name, a.Name) && (value == "*" || a.Value.is(value))
}
