package redact

import (
	"unicode/utf16"
	"unicode/utf8"
)

// escape parses the escape sequence at raw[i] of a valid string. plain reports whether it encodes a
// character that may be part of a hint.
func escape(raw []byte, i int) (end int, plain bool) {
	if raw[i+1] != 'u' {
		return i + 2, false
	}
	r := hex(raw[i+2:])
	return i + 6, r < utf8.RuneSelf && codes[r] != 0 && codes[r] != markStop
}

// unescape appends the decoded text of raw, a valid string without its quotes.
func unescape(text, raw []byte) []byte {
	for i := 0; i < len(raw); {
		text, i = character(text, raw, i)
	}
	return text
}

// places converts the positions of spans from the decoded text of raw to raw. The spans are in
// order.
func places(raw []byte, spans []span) {
	var scratch [utf8.UTFMax]byte
	i, at := 0, 0 // raw[i] encodes the text's byte at
	find := func(want int) int {
		for at < want {
			var one []byte
			begin := i
			one, i = character(scratch[:0], raw, i)
			if at += len(one); at > want {
				// want is within a character: use the start of that character.
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

// character appends the decoded character at raw[i], and returns the position of the next one.
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

// short returns the character that a one-letter escape sequence encodes.
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

// hex parses four hexadecimal digits.
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
