package events

import (
	"slices"
	"strings"
)

// readGlobs adds the files of the member include. A call without the default excludes is partial, since
// its globs also match files such as .env.
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

// patternMembers are the members with the pattern of a search for file names, in the form of
// [appendKey].
var patternMembers = []string{"pattern", "globpattern", "glob", "query"}

// readNames adds the directories at the start of the patterns of a search for file names, since
// such a search needs no separate directory.
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

// directoryOf returns the directory at the start of a pattern for file names, or an absolute path
// without wildcards itself. whole is false if the rest of the pattern may lead out of the
// directory.
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
