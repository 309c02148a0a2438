package events

import (
	"slices"
	"strings"
)

// readGlobs: without its default excludes, a glob finds what nobody names, such as .env.
func (c toolCall) readGlobs(t *Tool) {
	m := members{paths: t.Paths}
	for name, v := range c.input.object.All() {
		t.Partial = t.Partial || keyOf(name) == "usedefaultexcludes" && v.Kind() == 'f'
	}
	if v, ok := c.input.object.Get("include"); ok {
		m.collect(&m.paths, v, false)
	}
	t.Paths, t.Partial = m.paths, t.Partial || m.partial
}

// patternMembers hold the pattern of a search for names, as [appendKey] makes them.
var patternMembers = []string{"pattern", "globpattern", "glob", "query"}

// readNames adds the directories that the patterns of a search for names begin with: an agent
// need not give such a search a directory.
func (c toolCall) readNames(t *Tool) {
	var m members
	for name, v := range c.input.object.All() {
		if slices.Contains(patternMembers, keyOf(name)) && v.Kind() != 'n' {
			m.collect(&m.paths, v, false)
		}
	}
	all := members{paths: t.Paths, partial: m.partial}
	for _, pattern := range m.paths {
		dir, whole := directoryOf(pattern)
		all.partial = all.partial || !whole
		switch {
		case dir == "":
		case len(t.Paths) == 0 || strings.HasPrefix(dir, "/") || strings.HasPrefix(dir, "~"):
			all.add(&all.paths, dir)
		default:
			for _, from := range t.Paths {
				all.add(&all.paths, strings.TrimSuffix(from, "/")+"/"+dir)
			}
		}
	}
	t.Paths, t.Partial = all.paths, t.Partial || all.partial
}

// directoryOf is the directory that a pattern for names begins with; of an absolute path without
// wildcards it is the path. whole is false where the rest may lead out of the directory again.
func directoryOf(pattern string) (dir string, whole bool) {
	at := strings.IndexAny(pattern, "*?[{")
	if at < 0 {
		if strings.HasPrefix(pattern, "/") || strings.HasPrefix(pattern, "~") {
			return pattern, true
		}
		at = len(pattern)
	}
	end := strings.LastIndexByte(pattern[:at], '/') + 1
	rest := pattern[end:]
	return strings.TrimSuffix(pattern[:end], "/"), !slices.ContainsFunc([]string{"..", "{/", ",/", "{~", ",~"}, func(out string) bool { return strings.Contains(rest, out) })
}
