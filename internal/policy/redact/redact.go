package redact

import (
	"bytes"
	"iter"
	"strings"
	"sync"
)

// Options selects what is searched for in addition to the forms that are always recognized. The
// zero value is ready to use. Unlike [Rules], it ignores names: it masks only what is recognizable
// as a secret by its form.
type Options struct {
	// Emails also masks e-mail addresses.
	Emails bool
	// Nested makes Object parse a string that is a JSON object or array. Secrets are then masked in
	// its values only, so that a program can still parse the string. Otherwise, such a string is
	// treated as plain text, in which numbers and names are masked too.
	Nested bool
}

// Object is [Options.Object] with the zero Options.
func Object(raw []byte) ([]byte, int) { return Options{}.Object(raw) }

// Text is [Options.Text] with the zero Options.
func Text(text string) (string, int) { return Options{}.Text(text) }

// Object is like [Rules.Object], for the kinds that are recognized by their form.
func (o Options) Object(raw []byte) (redacted []byte, replaced int) {
	return o.matcher().object(raw)
}

// Text is like [Rules.Text], for the kinds that are recognized by their form.
func (o Options) Text(text string) (redacted string, replaced int) {
	return o.matcher().text(text)
}

func (o Options) matcher() *matcher { return forms[o]() }

// forms are the matchers for all Options. They are built on first use.
var forms = func() map[Options]func() *matcher {
	all := map[Options]func() *matcher{}
	for _, o := range []Options{{}, {Emails: true}, {Nested: true}, {Emails: true, Nested: true}} {
		all[o] = sync.OnceValue(func() *matcher {
			without := []string{kindAssignment, kindKey}
			if !o.Emails {
				without = append(without, kindEmail)
			}
			m := build(settings{without: without})
			m.nested = o.Nested
			return m
		})
	}
	return all
}()

const markerStart = "[REDACTED:"

func appendMarker(to []byte, kind string) []byte {
	return append(append(append(to, markerStart...), kind...), ']')
}

// marked yields the markers in text, of the matcher's kinds and of the default ones.
func (m *matcher) marked(text []byte) iter.Seq[span] {
	return func(yield func(span) bool) {
		for at := 0; ; {
			next := bytes.Index(text[at:], []byte(markerStart))
			if next < 0 {
				return
			}
			start := at + next
			at = start + len(markerStart)
			for _, kind := range m.markers {
				if end := at + len(kind); end < len(text) && text[end] == ']' && string(text[at:end]) == kind {
					if !yield(span{start: start, end: end + 1}) {
						return
					}
				}
			}
		}
	}
}

// isMarker reports whether text is a marker and nothing else.
func (m *matcher) isMarker(text []byte) bool {
	for at := range m.marked(text) {
		return at.start == 0 && at.end == len(text)
	}
	return false
}

// text implements [Rules.Text].
func (m *matcher) text(text string) (string, int) {
	if m.quiet(text) {
		return text, 0
	}
	for replaced := 0; ; {
		found := m.search([]byte(text), nil)
		if len(found) == 0 {
			return text, replaced
		}
		var out strings.Builder
		done := 0
		for _, s := range found {
			out.WriteString(text[done:s.start])
			out.WriteString(markerStart + s.kind + "]")
			done = s.end
		}
		out.WriteString(text[done:])
		// A secret that was next to another one may be recognizable now.
		text, replaced = out.String(), replaced+len(found)
	}
}

// object implements [Rules.Object].
func (m *matcher) object(raw []byte) (redacted []byte, replaced int) {
	r := readers.Get().(*reader)
	defer readers.Put(r)
	for {
		found, ok := r.read(m, raw)
		if !ok {
			return []byte("{}"), 1
		}
		if len(found) == 0 {
			return raw, replaced
		}
		out := make([]byte, 0, len(raw)+16*len(found))
		done := 0
		for _, s := range found {
			out = append(out, raw[done:s.start]...)
			if s.whole {
				out = append(appendMarker(append(out, '"'), s.kind), '"')
			} else {
				out = appendMarker(out, s.kind)
			}
			done = s.end
		}
		// A secret that was next to another one may be recognizable now.
		raw, replaced = append(out, raw[done:]...), replaced+len(found)
	}
}
