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

// excerpt keeps the beginning and the end of what is written.
type excerpt struct{ head, tail []byte }

// Write never fails.
func (e *excerpt) Write(p []byte) (int, error) {
	e.head = append(e.head, p[:min(len(p), headSize-len(e.head))]...)
	e.tail = append(e.tail, p...)
	if len(e.tail) > 2*tailSize {
		e.tail = append(e.tail[:0], e.tail[len(e.tail)-tailSize:]...)
	}
	return len(p), nil
}

// lastLine returns the last line that is not blank, without control characters.
func (e *excerpt) lastLine() string {
	for lines := e.tail; len(lines) > 0; {
		i := max(bytes.LastIndexByte(lines, '\n'), 0)
		if line := process.Printable(lines[i:]); line != "" {
			return line
		}
		lines = lines[:i]
	}
	return ""
}

// firstLine returns the first line that is not blank, without control characters.
func (e *excerpt) firstLine() string {
	for line := range bytes.Lines(e.head) {
		if text := process.Printable(line); text != "" {
			return text
		}
	}
	return ""
}
