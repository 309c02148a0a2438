package textdiff

import (
	"unicode"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// span is a part of a text, as byte offsets.
type span struct{ from, to int }

// words splits two lines at the words that differ. If little is unchanged, it returns the lines as
// a whole.
func words(before, after string) (old, updated []Part) {
	if len(before)+len(after) > maxWords || !utf8.ValidString(before) || !utf8.ValidString(after) {
		return []Part{{Text: before}}, []Part{{Text: after}}
	}
	var gone, came []span
	shift := 0 // offset of the new text relative to the old one
	for _, e := range udiff.Strings(before, after) {
		gone = join(gone, whole(before, span{e.Start, e.End}))
		came = join(came, whole(after, span{e.Start + shift, e.Start + shift + len(e.New)}))
		shift += len(e.New) - (e.End - e.Start)
	}
	if 4*size(gone) > 3*len(before) && 4*size(came) > 3*len(after) {
		return []Part{{Text: before}}, []Part{{Text: after}}
	}
	return cut(before, gone), cut(after, came)
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// whole extends a span to whole words.
func whole(text string, s span) span {
	for s.from > 0 {
		r, n := utf8.DecodeLastRuneInString(text[:s.from])
		if next, _ := utf8.DecodeRuneInString(text[s.from:]); !isWord(r) || !isWord(next) {
			break
		}
		s.from -= n
	}
	for s.to < len(text) {
		r, n := utf8.DecodeRuneInString(text[s.to:])
		if last, _ := utf8.DecodeLastRuneInString(text[:s.to]); !isWord(r) || !isWord(last) {
			break
		}
		s.to += n
	}
	return s
}

// join appends a span, and merges it with the last one if they touch.
func join(list []span, s span) []span {
	if n := len(list) - 1; n >= 0 && s.from <= list[n].to {
		list[n].to = max(list[n].to, s.to)
		return list
	}
	if s.from == s.to {
		return list
	}
	return append(list, s)
}

func size(list []span) (n int) {
	for _, s := range list {
		n += s.to - s.from
	}
	return n
}

func cut(text string, marks []span) (parts []Part) {
	at := 0
	add := func(to int, changed bool) {
		if to > at {
			parts = append(parts, Part{text[at:to], changed})
			at = to
		}
	}
	for _, m := range marks {
		add(m.from, false)
		add(m.to, true)
	}
	add(len(text), false)
	if parts == nil {
		parts = []Part{{}}
	}
	return parts
}
