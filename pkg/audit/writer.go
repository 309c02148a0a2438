package audit

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Header is the first line of an export.
type Header struct {
	Origin string // of the log, as in its checkpoints
	Prefix string // of the subjects
	// First is the sequence of the first message; 0 means 1. Only exports from 1 can be verified.
	First int64
}

// line returns the header as a line of an export.
func (h Header) line() []byte {
	line := events.NewObjectWriter(nil)
	line.Int("hookrouter_audit_export", exportVersion)
	line.String("origin", h.Origin)
	line.Int("first", h.First)
	line.String("prefix", h.Prefix)
	return line.End()
}

// Writer writes an export. After an error it must not be used, except that Message and Checkpoint
// may return errors about an argument that can't be written.
type Writer struct {
	out        *bufio.Writer
	header     Header
	last       int64 // sequence of the last message
	checkpoint []byte
	line       []byte
}

// NewWriter writes the header of an export to out.
func NewWriter(out io.Writer, h Header) (*Writer, error) {
	h.First = max(h.First, 1)
	if !isWord(h.Origin) || !isWord(h.Prefix) || !strings.HasPrefix(h.Origin, h.Prefix+"/") {
		return nil, errors.New("begin export: the origin must be the prefix, a slash and the segment")
	}
	w := &Writer{out: bufio.NewWriterSize(out, 64<<10), header: h, last: h.First - 1}
	if err := w.write(h.line()); err != nil {
		return nil, fmt.Errorf("begin export: %w", err)
	}
	return w, nil
}

// Resume continues the export in file after its last complete line and removes a partial line. It
// reads the existing content but does not verify it.
func Resume(file interface {
	io.ReadWriteSeeker
	Truncate(size int64) error
},
) (*Writer, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("resume export: %w", err)
	}
	in, err := NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("resume export: %w", err)
	}
	w := &Writer{header: in.Header(), last: in.Header().First - 1}
	for {
		whole := in.Offset()
		e, err := in.Next()
		if bad, ok := errors.AsType[*FormatError](err); errors.Is(err, io.EOF) || ok && bad.Cut {
			if err := file.Truncate(whole); err != nil {
				return nil, fmt.Errorf("resume export: %w", err)
			}
			if _, err := file.Seek(whole, io.SeekStart); err != nil {
				return nil, fmt.Errorf("resume export: %w", err)
			}
			w.out = bufio.NewWriterSize(file, 64<<10)
			return w, nil
		}
		if err != nil {
			return nil, fmt.Errorf("resume export: %w", err)
		}
		if e.Checkpoint != nil {
			w.checkpoint = append(w.checkpoint[:0], e.Checkpoint...)
		} else {
			w.last = e.Seq
		}
	}
}

// Header returns the header of the export.
func (w *Writer) Header() Header { return w.header }

// Last returns the sequence of the last message written, or [Header].First - 1 if there is none.
func (w *Writer) Last() int64 { return w.last }

// LastCheckpoint returns the last signed checkpoint written; nil if there is none.
func (w *Writer) LastCheckpoint() []byte { return w.checkpoint }

// Message writes a message of the stream. seq must be larger than that of the previous message. A
// gap, or a body that is not a list of lines, is written as it is, and verification reports it. The
// error says why the message can't be written at all.
func (w *Writer) Message(seq int64, at time.Time, subject string, body []byte) error {
	if seq <= w.last {
		return fmt.Errorf("export message %d: it comes after message %d", seq, w.last)
	}
	line := w.line[:0]
	line = append(line, seqKey...)
	line = strconv.AppendInt(line, seq, 10)
	line = append(line, timeKey...)
	line = appendText(line, at.UTC().Format(time.RFC3339Nano))
	line = append(line, subjectKey...)
	line = appendText(line, subject)
	if lines, ok := asLines(body); ok {
		line = append(line, linesKey...)
		for i, record := range lines {
			line = appendText(append(line, "[,"[min(i, 1)]), record)
		}
		line = append(line, ']')
	} else {
		line = append(line, bodyKey...)
		line = appendText(line, base64.StdEncoding.EncodeToString(body))
	}
	line = append(line, '}')
	w.line = line
	if err := w.write(line); err != nil {
		return fmt.Errorf("export message %d: %w", seq, err)
	}
	w.last = seq
	return nil
}

// asLines returns the lines of a body. ok is false if an export must hold it in base64.
func asLines(body []byte) (lines [][]byte, ok bool) {
	lines, err := Lines(body)
	return lines, err == nil && utf8.Valid(body)
}

// Checkpoint writes a signed checkpoint. It must follow the message whose sequence is its size.
func (w *Writer) Checkpoint(signed []byte) error {
	if !utf8.Valid(signed) {
		return errors.New("export checkpoint: it is not UTF-8")
	}
	line := appendText([]byte(checkpointKey), signed)
	if err := w.write(append(line, '}')); err != nil {
		return fmt.Errorf("export checkpoint: %w", err)
	}
	w.checkpoint = append(w.checkpoint[:0], signed...)
	return nil
}

// Flush writes buffered data. Call it at the end.
func (w *Writer) Flush() error { return w.out.Flush() }

func (w *Writer) write(line []byte) error {
	if len(line) > MaxLine {
		return fmt.Errorf("%d bytes are too much for a line of an export: at most %d", len(line), MaxLine)
	}
	if _, err := w.out.Write(line); err != nil {
		return err
	}
	return w.out.WriteByte('\n')
}

// appendText appends a JSON string. Invalid UTF-8 is replaced.
func appendText[T string | []byte](buf []byte, text T) []byte {
	buf, _ = jsontext.AppendQuote(buf, text)
	return buf
}
