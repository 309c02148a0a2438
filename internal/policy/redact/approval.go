package redact

import "bytes"

const (
	// commandStart begins a command, or what a shell expands.
	commandStart = ";|&<>()$`\n\r"
	// wordEnd ends a word in a shell, quotes, or changes what the next character means.
	wordEnd = commandStart + " \t\"'\\"
)

// harmlessEnd returns where a secret ends at the latest if no part of a command may be hidden.
// Kinds that are known by their form have no such characters.
func harmlessEnd(text []byte, s span) int {
	stop := commandStart
	switch s.kind {
	case kindAssignment, kindURLPassword:
		stop = wordEnd
	case kindPrivateKey: // finds its own end
		return s.end
	}
	if at := bytes.IndexAny(text[s.start:s.end], stop); at >= 0 {
		return s.start + at
	}
	return s.end
}
