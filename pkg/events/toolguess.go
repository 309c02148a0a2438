package events

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// guessed is what stands in members that nobody knows, at any depth.
type guessed struct {
	commands, paths, urls []string

	level int  // how many objects and lists of unknown meaning it stands in
	more  bool // there are deeper ones
}

// guess notes the texts in a value of unknown meaning that look like a path or an address, and what
// the objects in it name.
func (m *members) guess(v jsontext.Value) {
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
			m.add(&m.maybe.urls, text)
		case strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~/"):
			m.add(&m.maybe.paths, text)
		}
	case '[':
		m.maybe.level++
		for e := range elements(v) {
			m.guess(e)
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

// guessAll notes all that an object of unknown meaning names.
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
