package events

import (
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// guessed holds what members of unknown meaning may name, at any depth.
type guessed struct {
	commands, paths, urls []string

	level int  // number of enclosing objects and lists of unknown meaning
	more  bool // some are nested deeper than is searched
}

// pathEnds are the endings of names of members that hold paths, in the form of [appendKey]:
// image_path, inputFile.
var pathEnds = []string{"path", "paths", "file", "files", "filename", "filenames", "dir", "dirs", "directory", "directories", "folder", "folders"}

func endsAsPath(name string) bool {
	key := keyOf(name)
	return slices.ContainsFunc(pathEnds, func(end string) bool { return strings.HasSuffix(key, end) })
}

// looksLikePath reports whether a text is a path, independent of its member: one that begins with
// /, ~/, ./ or ../. Other texts may be names, as in a search for .env.
func looksLikePath(text string) bool {
	return slices.ContainsFunc([]string{"/", "~/", "./", "../"}, func(start string) bool { return strings.HasPrefix(text, start) })
}

var (
	// anAddress matches an address in a text. spacedLogin matches a text that begins like one and
	// has blanks before an @.
	anAddress   = regexp.MustCompile(`(?i)[a-z][a-z0-9+.:-]*://(\S*@)?(\[[0-9a-f:.%]*\])?[^\s"'<>()\[\]{}]*`)
	spacedLogin = regexp.MustCompile(`(?i)^\s*[a-z][a-z0-9+.:-]*://[^/?#\\]*\s[^/?#\\]*@`)
)

// addressesIn returns the addresses in a text: the whole text if it may be one, otherwise those
// that it mentions, with and without the line breaks that browsers remove.
func addressesIn(text string) []string {
	if !strings.ContainsFunc(strings.TrimFunc(text, isSpace), func(r rune) bool { return isSpace(r) || r < ' ' }) || spacedLogin.MatchString(text) {
		return []string{text}
	}
	all := append(anAddress.FindAllString(text, MaxToolPaths+1), anAddress.FindAllString(withoutBreaks(text), MaxToolPaths+1)...)
	if len(all) == 0 {
		return []string{text}
	}
	return all
}

// guess records the texts in a value of unknown meaning that look like a path or an address, and
// what the objects in it name. isPath is set if the member's name suggests a path.
func (m *members) guess(v jsontext.Value, isPath bool) {
	kind := v.Kind()
	switch {
	case !m.guesses:
		return
	case m.maybe.level == maxPassedNesting && (kind == '[' || kind == '{'):
		m.maybe.more = true
		return
	}
	switch kind {
	case '"':
		text, err := unquote(v)
		switch {
		case err != nil:
		case strings.Contains(text, "://"):
			for _, found := range addressesIn(text) {
				m.add(&m.maybe.urls, found)
			}
		case isPath || looksLikePath(text):
			m.add(&m.maybe.paths, text)
		}
	case '[':
		m.maybe.level++
		for e := range elements(v) {
			m.guess(e, isPath)
		}
		m.maybe.level--
	case '{':
		o, ok := objectOf(v)
		if !ok {
			m.maybe.more = true
			return
		}
		inner := members{guesses: true, maybe: guessed{level: m.maybe.level + 1}}
		inner.read(o)
		inner.joinArguments()
		m.maybe.more = m.maybe.more || inner.maybe.more
		m.guessAll(inner)
	}
}

// guessAll records everything that an object of unknown meaning names.
func (m *members) guessAll(inner members) {
	for _, part := range [...]struct {
		to   *[]string
		from []string
	}{
		{&m.maybe.commands, slices.Concat(inner.commands, inner.maybe.commands)},
		{&m.maybe.paths, slices.Concat(inner.paths, inner.maybe.paths)},
		{&m.maybe.urls, slices.Concat(inner.urls, inner.maybe.urls)},
	} {
		for _, text := range part.from {
			m.add(part.to, text)
		}
	}
}
