package exechook

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/hookrouter/hookrouter/internal/workerfile/claudecode"
)

// Limits of what is kept of the standard error.
const (
	headSize = 4 * claudecode.MaxText // bytes
	tailSize = 4 << 10                // bytes
	lineSize = 200                    // characters of the line that is shown
)

// tail keeps the beginning and the end of what is written.
type tail struct{ head, bytes []byte }

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.head = append(t.head, p[:min(len(p), headSize-len(t.head))]...)
	t.bytes = append(t.bytes, p...)
	if len(t.bytes) > 2*tailSize {
		t.bytes = append(t.bytes[:0], t.bytes[len(t.bytes)-tailSize:]...)
	}
	return len(p), nil
}

// lastLine is the last line with anything on it, without control characters.
func (t *tail) lastLine() string {
	for lines := t.bytes; len(lines) > 0; {
		i := max(bytes.LastIndexByte(lines, '\n'), 0)
		if line := printable(lines[i:]); line != "" {
			return line
		}
		lines = lines[:i]
	}
	return ""
}

// firstLine is the first line with anything on it, without control characters.
func (t *tail) firstLine() string {
	for line := range bytes.Lines(t.head) {
		if text := printable(line); text != "" {
			return text
		}
	}
	return ""
}

func printable(line []byte) string {
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(line), "?"))
	runes := []rune(strings.TrimSpace(text))
	if len(runes) > lineSize {
		return string(runes[:lineSize]) + "..."
	}
	return string(runes)
}
