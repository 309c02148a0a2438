package paths

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Holds reports whether what a pattern forbids may be below the path: it is one of the
// directories that the pattern names on its way. Of a pattern that begins with **
// these are the ones behind it, so **/.git/hooks/** has .git, and **/.env has none.
func (p Path) Holds(pattern Pattern) bool {
	return slices.ContainsFunc(p.folded, func(form string) bool { return match(pattern.above, form) })
}

// Globbed reports whether a path that is itself a glob of a shell may lead to what a
// pattern forbids.
func (p Path) Globbed(pattern Pattern) bool {
	return p.meets(slices.Concat(pattern.lower, pattern.homes))
}

// GlobHolds is Holds for a path that is itself a glob of a shell.
func (p Path) GlobHolds(pattern Pattern) bool { return p.meets(pattern.above) }

// Named reports whether the last name of the path is one that a pattern forbids in any
// directory, or in those of some name: config for **/.git/config, hooks for
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
	for _, form := range p.forms { // of a shell they have no braces, of a search they may
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

// maxMeet bounds the steps of meet; a pair that needs more is taken to meet.
const maxMeet = 10000

// meet reports whether some path has both forms, name by name.
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

// names reports whether a name may have both forms. A shell's wildcard has no name that
// begins with a dot.
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

// ends are what every name begins and ends with that has the form of a glob.
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
