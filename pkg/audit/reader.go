package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

const exportVersion = 1

// The members of the lines of an export, in their one order.
const (
	seqKey        = `{"seq":`
	timeKey       = `,"time":`
	subjectKey    = `,"subject":`
	linesKey      = `,"lines":`
	bodyKey       = `,"body":` // base64, instead of lines
	checkpointKey = `{"checkpoint":`
)

// Entry is one line of an export: a message or a checkpoint. Its slices hold until
// the next entry is read.
type Entry struct {
	Line       int64    // of the file, from 1
	Seq        int64    // of the message in the stream; 0: it is a checkpoint
	Time       []byte   // when the stream took the message, as the server says: RFC 3339 in UTC
	Subject    []byte   // as the server says
	Lines      [][]byte // the records, without LF
	Body       []byte   // instead of Lines: a message that is not a list of lines
	Checkpoint []byte   // signed

	marks [][]int32 // of each line, where quotes and backslashes stand; nil: not known
}

// FormatError says what is wrong with a file as an export.
type FormatError struct {
	Line   int64  // of the file, from 1
	Reason string // a sentence without its full stop
	// Cut says that the file ends before it should: it is empty, or ends in the
	// middle of a line.
	Cut bool
	// Later says that the file is of a later version.
	Later bool
}

// Error implements error.
func (e *FormatError) Error() string {
	return fmt.Sprintf("line %d of the export: %s", e.Line, e.Reason)
}

// Reader reads an export in constant memory.
type Reader struct {
	in     *bufio.Reader
	long   []byte // a line that is longer than in's buffer
	header Header
	line   int64
	offset int64
	entry  Entry
	text   []byte // what entry's slices point into
	marks  []int32
}

// NewReader reads the header of an export. The error is a [FormatError], or one of
// reading.
func NewReader(in io.Reader) (*Reader, error) {
	r := &Reader{in: bufio.NewReaderSize(in, 256<<10)}
	line, err := r.readLine()
	if errors.Is(err, io.EOF) {
		return nil, &FormatError{Line: 1, Reason: "the file is empty", Cut: true}
	}
	if err != nil {
		return nil, err
	}
	var h struct {
		Version int64  `json:"hookrouter_audit_export"`
		Origin  string `json:"origin"`
		First   int64  `json:"first"`
		Prefix  string `json:"prefix"`
	}
	if err := json.Unmarshal(line, &h); err != nil || h.Version == 0 {
		return nil, r.bad("no header: this is not an export of an audit log")
	}
	if h.Version != exportVersion {
		return nil, &FormatError{Line: 1, Reason: fmt.Sprintf("an export of version %d, and only version %d is known here", h.Version, exportVersion), Later: h.Version > exportVersion}
	}
	if !isWord(h.Origin) || !isWord(h.Prefix) || !strings.HasPrefix(h.Origin, h.Prefix+"/") || h.First < 1 {
		return nil, r.bad("a header without first, or whose origin is not its prefix and a segment")
	}
	r.header = Header{Origin: h.Origin, Prefix: h.Prefix, First: h.First}
	if !bytes.Equal(line, r.header.line()) { // so it does not matter how lenient the decoder is
		return nil, r.bad("a header that is %v", errShape)
	}
	return r, nil
}

// Header is the header of the export.
func (r *Reader) Header() Header { return r.header }

// Offset is how many bytes were read, as whole lines.
func (r *Reader) Offset() int64 { return r.offset }

// Next returns the next entry, [io.EOF] at the end. The error is a [FormatError], or
// one of reading.
func (r *Reader) Next() (*Entry, error) {
	line, err := r.readLine()
	if err != nil {
		return nil, err
	}
	if len(r.text) < len(line)+16 { // decoded it is never longer, and words are written whole
		r.text = make([]byte, len(line)+len(line)/2+16)
	}
	r.entry = Entry{Line: r.line, Lines: r.entry.Lines[:0], marks: r.entry.marks[:0]}
	p := parser{rest: line, to: r.text, marks: r.marks[:0]}
	switch {
	case p.skip(seqKey):
		err = p.message(&r.entry)
	case p.skip(checkpointKey):
		r.entry.Checkpoint, err = p.str()
	case bytes.HasPrefix(line, []byte(`{"hookrouter_audit_export"`)):
		err = errors.New("a second header: two exports in one file")
	default:
		err = errShape
	}
	r.marks = p.marks
	if err == nil && string(p.rest) != "}" {
		err = errShape
	}
	if err != nil {
		return nil, r.bad("%v", err)
	}
	return &r.entry, nil
}

// readLine reads a line, without its LF. It holds until the next call.
func (r *Reader) readLine() ([]byte, error) {
	line, err := r.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		for r.long = r.long[:0]; errors.Is(err, bufio.ErrBufferFull) && len(r.long) <= MaxLine; {
			r.long = append(r.long, line...)
			line, err = r.in.ReadSlice('\n')
		}
		r.long = append(r.long, line...)
		line = r.long
	}
	r.line++
	if len(line) > MaxLine+1 {
		return nil, r.bad("longer than %d bytes", MaxLine)
	}
	if err != nil && len(line) > 0 && errors.Is(err, io.EOF) {
		return nil, &FormatError{Line: r.line, Reason: "the file ends in the middle of this line", Cut: true}
	}
	if err != nil {
		return nil, err
	}
	r.offset += int64(len(line))
	line = line[:len(line)-1]
	if len(line) > 0 && line[len(line)-1] == '\r' {
		return nil, r.bad("it ends with CR LF, not LF alone: the file was converted")
	}
	return line, nil
}

func (r *Reader) bad(format string, args ...any) error {
	return &FormatError{Line: r.line, Reason: fmt.Sprintf(format, args...)}
}
