package verdict

import "strings"

// Controls that begin or end an escape sequence (ECMA-48). Each C1 control can also be written as
// ESC and the character 0x40 below it.
const (
	esc = '\x1b'
	bel = '\a'
	can = '\x18'
	sub = '\x1a'
	dcs = '\u0090' // device control string
	sos = '\u0098' // start of string
	csi = '\u009b' // control sequence introducer
	osc = '\u009d' // operating system command
	pm  = '\u009e' // privacy message
	apc = '\u009f' // application program command
)

// escape returns the length of the escape sequence at the start of text. Its first character r, of
// the given size, is ESC or a C1 control.
func escape(r rune, text string, size int) int {
	if r == esc {
		if len(text) == size {
			return size
		}
		switch next := text[size]; {
		case next >= 0x40 && next <= 0x5f:
			r = rune(next) + 0x40
			size++
		case next >= 0x30 && next <= 0x7e:
			return size + 1
		default: // intermediate bytes and a final one: selects a character set
			size = span(text, size, 0x20, 0x2f)
			if size < len(text) && text[size] >= 0x30 && text[size] <= 0x7e {
				size++
			}
			return size
		}
	}
	switch r {
	case csi:
		size = span(text, size, 0x30, 0x3f)
		size = span(text, size, 0x20, 0x2f)
		if size < len(text) && text[size] >= 0x40 && text[size] <= 0x7e {
			size++
		}
		return size
	case osc:
		return size + controlString(text[size:], true)
	case dcs, sos, pm, apc:
		return size + controlString(text[size:], false)
	}
	return size
}

// span returns the end of the run of bytes from lo to hi at start.
func span(text string, start int, lo, hi byte) int {
	for start < len(text) && text[start] >= lo && text[start] <= hi {
		start++
	}
	return start
}

// controlString returns the length of the rest of a control string: up to its terminator, the end
// of its line, or the begin of another sequence. The terminator is not included: it is removed as a
// control of its own.
func controlString(text string, belEnds bool) int {
	end := strings.IndexFunc(text, func(r rune) bool {
		return r == '\n' || r == esc || r == can || r == sub || r == bel && belEnds || r >= 0x80 && r <= 0x9f
	})
	if end < 0 {
		return len(text)
	}
	return end
}
