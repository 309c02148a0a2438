package redact

import (
	"bytes"
	"sync"
)

// maxDepth is how deep encoding/json lets arrays and objects be nested.
const maxDepth = 10000

// reader reads JSON once from its beginning to its end: it checks the grammar,
// as strictly as json.Valid, and finds the places to mask on the way.
type reader struct {
	m     *matcher
	raw   []byte
	found []span
	muted int // > 0 within a value that is masked as a whole

	plain  []byte // a string without escapes
	inside []span // secrets in plain
}

var readers = sync.Pool{New: func() any { return new(reader) }}

// read returns the secrets in raw in order, until the next read. Their places
// are in raw; ok is false where raw is no JSON.
func (r *reader) read(m *matcher, raw []byte) (found []span, ok bool) {
	r.m, r.raw, r.found, r.muted = m, raw, r.found[:0], 0
	i := r.value(r.space(0), 0)
	ok = i >= 0 && r.space(i) == len(raw)
	r.m, r.raw = nil, nil
	return r.found, ok
}

// The methods below take where something begins and return where it ends, or a
// negative number where it is no JSON.

func (r *reader) space(i int) int {
	for i < len(r.raw) && (r.raw[i] == ' ' || r.raw[i] == '\t' || r.raw[i] == '\n' || r.raw[i] == '\r') {
		i++
	}
	return i
}

func (r *reader) value(i, depth int) int {
	if i >= len(r.raw) {
		return -1
	}
	switch c := r.raw[i]; c {
	case '"':
		s, end := r.text(i + 1)
		if end >= 0 && s.hot && r.muted == 0 {
			r.search(i+1, end-1, s)
		}
		return end
	case '{':
		return r.object(i, depth+1)
	case '[':
		return r.array(i, depth+1)
	case 't':
		return r.literal(i, "true")
	case 'f':
		return r.literal(i, "false")
	case 'n':
		return r.literal(i, "null")
	default:
		return r.number(i)
	}
}

func (r *reader) literal(i int, word string) int {
	if end := i + len(word); end <= len(r.raw) && string(r.raw[i:end]) == word {
		return end
	}
	return -1
}

func (r *reader) number(i int) int {
	if r.raw[i] == '-' {
		i++
	}
	switch {
	case i < len(r.raw) && r.raw[i] == '0':
		i++
	default:
		if i = r.digits(i); i < 0 {
			return -1
		}
	}
	if i < len(r.raw) && r.raw[i] == '.' {
		if i = r.digits(i + 1); i < 0 {
			return -1
		}
	}
	if i < len(r.raw) && r.raw[i]|0x20 == 'e' {
		i++
		if i < len(r.raw) && (r.raw[i] == '+' || r.raw[i] == '-') {
			i++
		}
		return r.digits(i)
	}
	return i
}

// digits reads one or more digits.
func (r *reader) digits(i int) int {
	if end := while(r.raw, i, isDigit); end > i {
		return end
	}
	return -1
}

func (r *reader) array(i, depth int) int {
	if depth > maxDepth {
		return -1
	}
	if i = r.space(i + 1); i < len(r.raw) && r.raw[i] == ']' {
		return i + 1
	}
	for {
		if i = r.value(i, depth); i < 0 {
			return -1
		}
		if i = r.space(i); i == len(r.raw) {
			return -1
		}
		switch r.raw[i] {
		case ']':
			return i + 1
		case ',':
			i = r.space(i + 1)
		default:
			return -1
		}
	}
}

func (r *reader) object(i, depth int) int {
	if depth > maxDepth {
		return -1
	}
	if i = r.space(i + 1); i < len(r.raw) && r.raw[i] == '}' {
		return i + 1
	}
	pointed := "" // what the member "path" of a JSON Patch says of "value"
	for {
		if i >= len(r.raw) || r.raw[i] != '"' {
			return -1
		}
		s, end := r.text(i + 1)
		if end < 0 {
			return -1
		}
		name := r.raw[i+1 : end-1]
		if i = r.space(end); i == len(r.raw) || r.raw[i] != ':' {
			return -1
		}
		begin := r.space(i + 1)
		if i = r.member(name, s, begin, depth, &pointed); i < 0 {
			return -1
		}
		if i = r.space(i); i == len(r.raw) {
			return -1
		}
		switch r.raw[i] {
		case '}':
			return i + 1
		case ',':
			i = r.space(i + 1)
		default:
			return -1
		}
	}
}

// member reads the value of a member, and masks it where its name says so.
func (r *reader) member(name []byte, s stretch, begin, depth int, pointed *string) int {
	if r.muted > 0 {
		return r.value(begin, depth)
	}
	if s.escaped {
		r.plain = unescape(r.plain[:0], name)
		name = r.plain
	}
	kind := r.m.kindOf(name, s.hot)
	if kind == "" && *pointed != "" && string(name) == "value" {
		kind = *pointed
	}
	switch {
	case kind == kindKey, kind == kindAssignment && begin < len(r.raw) && r.raw[begin] == '"':
		r.muted++
		end := r.value(begin, depth)
		r.muted--
		if end < 0 || !r.conceal(begin, end, kind) {
			return end
		}
		r.found = append(r.found, span{start: begin, end: end, kind: kind, whole: true})
		return end
	case string(name) == "path":
		end := r.value(begin, depth)
		if end > begin+2 && r.raw[begin] == '"' && r.raw[begin+1] == '/' {
			*pointed = r.m.kindOfPath(r.raw[begin+1 : end-1])
		}
		return end
	}
	return r.value(begin, depth)
}

// conceal reports whether the value of a member with a secret name is to be
// masked: null and the empty string show nothing.
func (r *reader) conceal(begin, end int, kind string) bool {
	value := r.raw[begin:end]
	if value[0] == '"' {
		value = value[1 : len(value)-1]
		if bytes.IndexByte(value, '\\') >= 0 {
			r.plain = unescape(r.plain[:0], value)
			value = r.plain
		}
		if len(value) == 0 || r.m.isMarker(value) || kind == kindAssignment && (placeholder(value) || constant(value)) {
			return false
		}
	}
	return string(value) != "null" && !r.m.allow.has(value)
}

// stretch says what is in a string.
type stretch struct {
	escaped bool
	hot     bool // it has to be searched
}

// text reads a string from behind its first quote.
func (r *reader) text(i int) (s stretch, end int) {
	raw, hot, start := r.raw, &r.m.hot, i
	s.hot = len(r.m.always) > 0
	gram := uint32(0)
	for ; i < len(raw); i++ {
		c := codes[raw[i]]
		if c < markAt {
			gram = gram<<5 | uint32(c)
			if hot[gram>>5&(gramMask>>5)]&(1<<(gram&31)) != 0 {
				s.hot = s.hot || r.m.hinted(raw[start:], i-start, gram)
			}
			continue
		}
		gram = 0
		switch raw[i] {
		case '@':
			s.hot = s.hot || r.m.addressed(raw, i)
		case '"':
			return s, i + 1
		case '\\':
			next, plain := escape(raw, i)
			if next < 0 {
				return s, -1
			}
			// A hint may be written with escapes.
			s.hot = s.hot || plain
			s.escaped = true
			i = next - 1
		default:
			return s, -1
		}
	}
	return s, -1
}

// search finds the secrets in the string value raw[start:end].
func (r *reader) search(start, end int, s stretch) {
	if !s.escaped {
		r.inside = r.m.inString(r.raw[start:end], r.inside[:0])
	} else {
		r.plain = unescape(r.plain[:0], r.raw[start:end])
		r.inside = r.m.inString(r.plain, r.inside[:0])
		places(r.raw[start:end], r.inside)
	}
	for _, found := range r.inside {
		found.start += start
		found.end += start
		r.found = append(r.found, found)
	}
}

// inString is search for the text of a string, which may be JSON itself.
func (m *matcher) inString(text []byte, found []span) []span {
	if begin := bytes.TrimLeft(text, " \t\r\n"); m.nested && len(begin) > 0 && (begin[0] == '{' || begin[0] == '[') {
		r := readers.Get().(*reader)
		defer readers.Put(r)
		if inside, ok := r.read(m, text); ok {
			return append(found, inside...)
		}
	}
	return m.search(text, found)
}
