package exechook

import (
	"bytes"

	"github.com/hookrouter/hookrouter/internal/process"
	"github.com/hookrouter/hookrouter/internal/workerfile/claudescript"
)

// Limits on the standard error that is kept.
const (
	headSize = 4 * claudescript.MaxText // bytes
	tailSize = 4 << 10                  // bytes
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

// lastLine returns the last line that is not blank, without control characters.
func (t *tail) lastLine() string {
	for lines := t.bytes; len(lines) > 0; {
		i := max(bytes.LastIndexByte(lines, '\n'), 0)
		if line := process.Printable(lines[i:]); line != "" {
			return line
		}
		lines = lines[:i]
	}
	return ""
}

// firstLine returns the first line that is not blank, without control characters.
func (t *tail) firstLine() string {
	for line := range bytes.Lines(t.head) {
		if text := process.Printable(line); text != "" {
			return text
		}
	}
	return ""
}
