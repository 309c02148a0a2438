package redact

import (
	"bytes"
	"encoding/json"
	"unicode/utf16"
	"unicode/utf8"
)

// Options says what is searched for beside the forms that always are. The zero
// value is ready to use.
type Options struct {
	// Emails masks e-mail addresses too.
	Emails bool
}

// Object is [Options.Object] with the zero Options.
func Object(raw []byte) ([]byte, int) { return Options{}.Object(raw) }

// Text is [Options.Text] with the zero Options.
func Text(text string) (string, int) { return Options{}.Text(text) }

// Text returns a plain text with its secrets replaced as those of a string in
// [Options.Object], and the number of replacements.
func (o Options) Text(text string) (redacted string, replaced int) {
	raw, err := json.Marshal(text)
	if err != nil {
		return "", 1
	}
	out, n := o.Object(raw)
	if n == 0 {
		return text, 0
	}
	if err := json.Unmarshal(out, &redacted); err != nil {
		return "", n
	}
	return redacted, n
}

// Object returns raw with the secrets in its string values, at any depth,
// replaced by [REDACTED:kind], and the number of replacements. All other bytes
// are those of raw; where nothing was found it returns raw itself. What is no
// JSON can't be searched: it is replaced as a whole by the empty object, and
// counts as one.
func (o Options) Object(raw []byte) (redacted []byte, replaced int) {
	if !json.Valid(raw) {
		return []byte("{}"), 1
	}
	for {
		out, n := o.pass(raw)
		if n == 0 {
			return raw, replaced
		}
		// A secret that touched another one may stand alone now.
		raw, replaced = out, replaced+n
	}
}

// pass replaces what can be seen at once. raw is valid JSON.
func (o Options) pass(raw []byte) (out []byte, replaced int) {
	done := 0 // raw[:done] is in out
	for i := bytes.IndexByte(raw, '"'); i >= 0; {
		start := i + 1
		end, escaped := stringEnd(raw, start)
		if !isName(raw[end+1:]) {
			for _, s := range o.find(raw[start:end], escaped) {
				out = append(out, raw[done:start+s.start]...)
				out = append(append(append(out, "[REDACTED:"...), s.kind...), ']')
				done = start + s.end
				replaced++
			}
		}
		next := bytes.IndexByte(raw[end+1:], '"')
		if next < 0 {
			break
		}
		i = end + 1 + next
	}
	if replaced == 0 {
		return nil, 0
	}
	return append(out, raw[done:]...), replaced
}

// stringEnd returns where the string that begins at start ends, and whether it
// has escapes.
func stringEnd(raw []byte, start int) (end int, escaped bool) {
	for i := start; ; i++ {
		switch raw[i] {
		case '"':
			return i, escaped
		case '\\':
			escaped = true
			i++
		}
	}
}

// isName reports whether the string before rest is the name of a member.
func isName(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}

// find returns the secrets in the text between two quotes, as places in raw.
func (o Options) find(raw []byte, escaped bool) []span {
	if !escaped {
		return o.spans(raw)
	}
	text, at := unescape(raw)
	found := o.spans(text)
	for i := range found {
		found[i].start, found[i].end = at[found[i].start], at[found[i].end]
	}
	return found
}

// unescape returns the text that raw stands for, and for each byte of the text,
// and for its end, where it begins in raw.
func unescape(raw []byte) (text []byte, at []int) {
	text, at = make([]byte, 0, len(raw)), make([]int, 0, len(raw)+1)
	for i := 0; i < len(raw); {
		begin := i
		if raw[i] != '\\' {
			text = append(text, raw[i])
			i++
		} else if raw[i+1] == 'u' {
			r := hex(raw[i+2:])
			i += 6
			if i+6 <= len(raw) && raw[i] == '\\' && raw[i+1] == 'u' {
				if both := utf16.DecodeRune(r, hex(raw[i+2:])); both != utf8.RuneError {
					r = both
					i += 6
				}
			}
			text = utf8.AppendRune(text, r)
		} else {
			text = append(text, plain(raw[i+1]))
			i += 2
		}
		for len(at) < len(text) {
			at = append(at, begin)
		}
	}
	return text, append(at, len(raw))
}

// plain is the character that follows a backslash in its meaning.
func plain(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	default:
		return c
	}
}

// hex reads four hexadecimal digits.
func hex(digits []byte) rune {
	r := rune(0)
	for _, c := range digits[:4] {
		switch {
		case c <= '9':
			c -= '0'
		default:
			c = c | 0x20 - 'a' + 10
		}
		r = r<<4 | rune(c)
	}
	return r
}
