package paths

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Holds reports whether a pattern may match something below the path: the path is one of the
// directories in the pattern. For a pattern that begins with **, only the directories after it
// count: **/.git/hooks/** names .git, and **/.env names none.
func (p Path) Holds(pattern Pattern) bool {
	return slices.ContainsFunc(p.folded, func(form string) bool { return match(pattern.above, form) })
}

// Globbed reports whether a path that is itself a shell glob may expand to a match of the pattern.
func (p Path) Globbed(pattern Pattern) bool {
	return p.meets(slices.Concat(pattern.lower, pattern.homes))
}

// GlobHolds is like Holds, for a path that is itself a shell glob.
func (p Path) GlobHolds(pattern Pattern) bool { return p.meets(pattern.above) }

// Named reports whether the last element of the path is the last name of a pattern that applies in
// any directory, or in any directory of some name: config for **/.git/config, hooks for
// **/.git/hooks/**.
func (p Path) Named(pattern Pattern) bool {
	for _, glob := range pattern.lower {
		name, anywhere := strings.CutPrefix(glob, "**/")
		name = path.Base(strings.TrimSuffix(name, "/**"))
		if anywhere && !(strings.HasPrefix(name, "*") && strings.Count(glob, "/") > 1) && slices.ContainsFunc(p.forms, func(form string) bool { return names(folded(path.Base(form)), name) }) {
			return true
		}
	}
	return false
}

func (p Path) meets(globs []string) bool {
	all := p.folded
	for _, form := range p.forms { // globs of a search may contain braces, unlike those of a shell here
		if strings.Contains(form, "{") && doublestar.ValidatePattern(form) {
			for _, one := range expand([]string{form}) {
				all = append(slices.Clip(all), folded(one))
			}
		}
	}
	if len(all) > maxGlobs {
		return true
	}
	for _, form := range all {
		names := strings.Split(form, "/")
		for _, of := range globs {
			if meet(names, strings.Split(of, "/"), new(int)) {
				return true
			}
		}
	}
	return false
}

// maxMeet is the maximum number of steps of meet. A pair that needs more is treated as a match.
const maxMeet = 10000

// meet reports whether some path matches both globs, element by element.
func meet(glob, pattern []string, steps *int) bool {
	if *steps++; *steps > maxMeet {
		return true
	}
	switch {
	case len(pattern) == 0:
		return len(glob) == 0
	case pattern[0] == "**":
		return meet(glob, pattern[1:], steps) || len(glob) > 0 && meet(glob[1:], pattern, steps)
	case len(glob) == 0:
		return false
	}
	return names(glob[0], pattern[0]) && meet(glob[1:], pattern[1:], steps)
}

// names reports whether some name matches both globs. A shell wildcard does not match a leading
// dot.
func names(glob, pattern string) bool {
	if one, ok := unmasked(glob); ok {
		return fits(one, pattern) || match([]string{pattern}, glob)
	}
	wild := strings.ContainsAny(glob, "*?[")
	switch open := strings.ContainsAny(pattern, "*?["); {
	case !wild && !open:
		return glob == pattern
	case !wild:
		return match([]string{pattern}, glob)
	case strings.Contains(glob, "["):
		return true
	case strings.HasPrefix(pattern, ".") && !strings.HasPrefix(glob, "."):
		return false
	case !open:
		return approval.Glob(glob, pattern)
	}
	begin, end := ends(glob)
	first, last := ends(pattern)
	return (strings.HasPrefix(begin, first) || strings.HasPrefix(first, begin)) && (strings.HasSuffix(end, last) || strings.HasSuffix(last, end))
}

// ends returns the literal prefix and suffix of a glob.
func ends(glob string) (begin, end string) {
	const wildcards = "*?[]"
	return glob[:strings.IndexAny(glob, wildcards)], glob[strings.LastIndexAny(glob, wildcards)+1:]
}

func match(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool {
		ok, err := doublestar.Match(glob, name)
		return ok || err != nil
	})
}
