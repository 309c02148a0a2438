package redact

import "bytes"

const (
	// commandStart are the characters that begin a command, a redirection or an expansion in a
	// shell.
	commandStart = ";|&<>()$`\n\r"
	// wordEnd adds the characters that end a word, quote, or escape the next character.
	wordEnd = commandStart + " \t\"'\\"
)

// harmlessEnd returns where a masked secret must end so that no part of a command is hidden.
// Secrets that are recognized by their form contain none of these characters.
func harmlessEnd(text []byte, s span) int {
	stop := commandStart
	switch s.kind {
	case kindAssignment, kindURLPassword:
		stop = wordEnd
	case kindPrivateKey: // privateKey already stops at such characters
		return s.end
	}
	if at := bytes.IndexAny(text[s.start:s.end], stop); at >= 0 {
		return s.start + at
	}
	return s.end
}
