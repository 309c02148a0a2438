package redact

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// reader finds the secrets in one JSON value with [jsontext]. Like json.Valid, it accepts duplicate
// names and invalid UTF-8.
type reader struct {
	m     *matcher
	raw   []byte
	found []span

	buf bytes.Buffer // over raw
	dec jsontext.Decoder

	plain  []byte // a decoded string
	inside []span // secrets in plain
}

var (
	lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	readers = sync.Pool{New: func() any { return new(reader) }}
)

// read returns the secrets in raw in order, with positions in raw. The result is valid until the
// next read. ok is false if raw is not JSON.
func (r *reader) read(m *matcher, raw []byte) (found []span, ok bool) {
	r.m, r.raw, r.found, r.buf = m, raw, r.found[:0], *bytes.NewBuffer(raw)
	r.dec.Reset(&r.buf, lenient...)
	if r.value() == nil {
		_, err := r.dec.ReadToken()
		ok = errors.Is(err, io.EOF)
	}
	r.m, r.raw, r.buf = nil, nil, bytes.Buffer{}
	return r.found, ok
}

// value reads the next value and finds the secrets in it.
func (r *reader) value() error {
	switch r.dec.PeekKind() {
	case '{':
		return r.object()
	case '[':
		if _, err := r.dec.ReadToken(); err != nil {
			return err
		}
		for kind := r.dec.PeekKind(); kind != ']' && kind != 0; kind = r.dec.PeekKind() {
			if err := r.value(); err != nil {
				return err
			}
		}
		_, err := r.dec.ReadToken()
		return err
	}
	begin, end, err := r.whole()
	if err == nil && r.raw[begin] == '"' {
		if s := r.text(begin + 1); s.hot {
			r.search(begin+1, end-1, s)
		}
	}
	return err
}

// whole reads the next value without inspecting it, and returns its position.
func (r *reader) whole() (begin, end int, err error) {
	value, err := r.dec.ReadValue()
	end = int(r.dec.InputOffset())
	return end - len(value), end, err
}

func (r *reader) object() error {
	if _, err := r.dec.ReadToken(); err != nil {
		return err
	}
	pointed := "" // kind that the "path" of a JSON Patch operation implies for "value" and "old"
	for kind := r.dec.PeekKind(); kind != '}' && kind != 0; kind = r.dec.PeekKind() {
		begin, end, err := r.whole()
		if err != nil {
			return err
		}
		if err := r.member(r.raw[begin+1:end-1], r.text(begin+1), &pointed); err != nil {
			return err
		}
	}
	_, err := r.dec.ReadToken()
	return err
}

// member reads the value of a member, and masks it if the name requires that.
func (r *reader) member(name []byte, s stretch, pointed *string) error {
	if s.escaped {
		r.plain = unescape(r.plain[:0], name)
		name = r.plain
	}
	kind := r.m.kindOf(name, s.hot)
	if kind == "" && *pointed != "" && (string(name) == "value" || string(name) == "old") {
		kind = *pointed
	}
	text := r.dec.PeekKind() == '"'
	if kind != kindKey && !text {
		return r.value()
	}
	secret, isPath := kind == kindKey || kind == kindAssignment, string(name) == "path"
	begin, end, err := r.whole()
	switch {
	case err != nil:
		return err
	case secret && r.conceal(begin, end, kind):
		r.found = append(r.found, span{start: begin, end: end, kind: kind, whole: true})
	case secret: // it contains nothing to mask
	default:
		if s := r.text(begin + 1); s.hot {
			r.search(begin+1, end-1, s)
		}
		if isPath && end > begin+2 && r.raw[begin+1] == '/' {
			*pointed = r.m.kindOfPath(r.raw[begin+1 : end-1])
		}
	}
	return nil
}

// conceal reports whether the value of a member with a secret name must be masked. Null and the
// empty string reveal nothing.
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

// stretch describes the content of a string.
type stretch struct {
	escaped bool
	hot     bool // it must be searched
}

// text scans a valid string, starting after its opening quote.
func (r *reader) text(i int) (s stretch) {
	raw, hot, start := r.raw, &r.m.hot, i
	s.hot = len(r.m.always) > 0
	gram := uint32(0)
	for ; ; i++ {
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
		case '\\':
			next, plain := escape(raw, i)
			// A hint may be written with escape sequences.
			s.hot = s.hot || plain
			s.escaped = true
			i = next - 1
		default: // the closing quote
			return s
		}
	}
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

// inString is like search, for the decoded text of a string, which may itself be JSON.
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
