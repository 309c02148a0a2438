package redact

import (
	"unicode/utf16"
	"unicode/utf8"
)

// escape reads the escape at raw[i] of a valid string. plain reports whether it
// stands for a character that may be in a hint.
func escape(raw []byte, i int) (end int, plain bool) {
	if raw[i+1] != 'u' {
		return i + 2, false
	}
	r := hex(raw[i+2:])
	return i + 6, r < utf8.RuneSelf && codes[r] != 0 && codes[r] != markStop
}

// unescape appends the text that raw, a valid string without its quotes, stands for.
func unescape(text, raw []byte) []byte {
	for i := 0; i < len(raw); {
		text, i = character(text, raw, i)
	}
	return text
}

// places turns the places of spans in the text that raw stands for, which are in
// order, into those in raw.
func places(raw []byte, spans []span) {
	var scratch [utf8.UTFMax]byte
	i, at := 0, 0 // raw[i] stands for the text's byte at
	find := func(want int) int {
		for at < want {
			var one []byte
			begin := i
			one, i = character(scratch[:0], raw, i)
			if at += len(one); at > want {
				// want is within a character: it begins where that one does.
				i, at = begin, at-len(one)
				return begin
			}
		}
		return i
	}
	for s := range spans {
		spans[s].start = find(spans[s].start)
		spans[s].end = find(spans[s].end)
	}
}

// character appends what raw[i] begins, and returns where the next one does.
func character(text, raw []byte, i int) ([]byte, int) {
	switch {
	case raw[i] != '\\':
		return append(text, raw[i]), i + 1
	case raw[i+1] != 'u':
		return append(text, short(raw[i+1])), i + 2
	}
	r := hex(raw[i+2:])
	i += 6
	if i+6 <= len(raw) && raw[i] == '\\' && raw[i+1] == 'u' {
		if both := utf16.DecodeRune(r, hex(raw[i+2:])); both != utf8.RuneError {
			return utf8.AppendRune(text, both), i + 6
		}
	}
	return utf8.AppendRune(text, r), i
}

// short is the character that follows a backslash in its meaning.
func short(c byte) byte {
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
