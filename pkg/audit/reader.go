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

// The members of the lines of an export, in order.
const (
	seqKey        = `{"seq":`
	timeKey       = `,"time":`
	subjectKey    = `,"subject":`
	linesKey      = `,"lines":`
	bodyKey       = `,"body":` // base64, instead of lines
	checkpointKey = `{"checkpoint":`
)

// Entry is one line of an export: a message or a checkpoint. Its slices are valid until the next
// entry is read.
type Entry struct {
	Line       int64    // of the file, from 1
	Seq        int64    // of the message in the stream; 0 for a checkpoint
	Time       []byte   // when the server stored the message: RFC 3339 in UTC
	Subject    []byte   // of the message
	Lines      [][]byte // the records, without LF
	Body       []byte   // of a message that is not a list of lines; Lines is then nil
	Checkpoint []byte   // signed

	marks [][]int32 // positions of quotes and backslashes in each line; nil if unknown
}

// FormatError means that a file is not a valid export.
type FormatError struct {
	Line   int64  // of the file, from 1
	Reason string // a sentence without a full stop
	// Cut is set if the file is empty or ends in the middle of a line.
	Cut bool
	// Later is set if a later version wrote the file.
	Later bool
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("line %d of the export: %s", e.Line, e.Reason)
}

// Reader reads an export in constant memory.
type Reader struct {
	in     *bufio.Reader
	long   []byte // buffer for a line that is longer than that of in
	header Header
	line   int64
	offset int64
	entry  Entry
	text   []byte // buffer for entry's slices
	marks  []int32
}

// NewReader reads the header of an export. The error is a [FormatError] or a read error.
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
	if !bytes.Equal(line, r.header.line()) { // excludes all that the decoder tolerates
		return nil, r.bad("a header that is %v", errShape)
	}
	return r, nil
}

// Header returns the header of the export.
func (r *Reader) Header() Header { return r.header }

// Offset returns the number of bytes read as whole lines.
func (r *Reader) Offset() int64 { return r.offset }

// Next returns the next entry, or [io.EOF] at the end. Other errors are a [FormatError] or a read
// error.
func (r *Reader) Next() (*Entry, error) {
	line, err := r.readLine()
	if err != nil {
		return nil, err
	}
	if len(r.text) < len(line)+16 { // decoding never makes it longer, but writes whole words
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

// readLine returns the next line without its LF, valid until the next call.
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
