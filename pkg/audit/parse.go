package audit

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

var errShape = errors.New("not in the form of an export")

// parser parses one line of an export. It accepts only the exact form that [Writer] writes, and so
// needs no general decoder. Any other encoding of the same content is an error, so that a text
// search in a verified file finds everything.
type parser struct {
	rest []byte
	to   []byte // buffer for all strings of the line
	n    int    // number of bytes used in to

	marks []int32 // positions of quotes and backslashes in each string
	rarer bool    // the last string had other escapes, and has no marks
}

// skip skips next, and reports whether it was there.
func (p *parser) skip(next string) bool {
	if len(p.rest) < len(next) || string(p.rest[:len(next)]) != next {
		return false
	}
	p.rest = p.rest[len(next):]
	return true
}

// message parses a message from its sequence up to the closing brace.
func (p *parser) message(e *Entry) (err error) {
	var ok bool
	digits := max(bytes.IndexByte(p.rest, ','), 0)
	if e.Seq, ok = parseCount(p.rest[:digits]); !ok || e.Seq == 0 {
		return errors.New("the sequence is not a number from 1")
	}
	p.rest = p.rest[digits:]
	if e.Time, err = p.member(timeKey); err != nil {
		return err
	}
	if !isTime(e.Time) {
		return errors.New("the time is not RFC 3339 in UTC, in its shortest form")
	}
	if e.Subject, err = p.member(subjectKey); err != nil {
		return err
	}
	if !utf8.Valid(e.Subject) {
		return errShape
	}
	if p.skip(linesKey) {
		return p.lines(e)
	}
	text, err := p.member(bodyKey)
	if err != nil {
		return err
	}
	e.Body, err = base64.StdEncoding.AppendDecode([]byte{}, text)
	if err != nil || base64.StdEncoding.EncodeToString(e.Body) != string(text) {
		return errShape
	}
	if _, ok := asLines(e.Body); ok {
		return errors.New("a list of lines stands there as a body")
	}
	return nil
}

// isTime reports whether text is a time in the form of [Writer].
func isTime(text []byte) bool {
	var at time.Time
	var again [len(time.RFC3339Nano)]byte
	return at.UnmarshalText(text) == nil && string(at.UTC().AppendFormat(again[:0], time.RFC3339Nano)) == string(text)
}

// lines parses the list of a message's lines.
func (p *parser) lines(e *Entry) error {
	for before := "["; p.skip(before); before = "," {
		first := len(p.marks)
		line, err := p.str()
		if err != nil {
			return err
		}
		e.Lines = append(e.Lines, line)
		known := p.marks[first:len(p.marks):len(p.marks)]
		if p.rarer {
			known = nil
		}
		e.marks = append(e.marks, known)
	}
	if len(e.Lines) == 0 || !p.skip("]") {
		return errShape
	}
	return nil
}

// member parses a member that is a string.
func (p *parser) member(key string) ([]byte, error) {
	if !p.skip(key) {
		return nil, errShape
	}
	return p.str()
}

// str parses a string, eight bytes at a time. Reading an export spends most of its time here.
func (p *parser) str() ([]byte, error) {
	if len(p.rest) == 0 || p.rest[0] != '"' {
		return nil, errShape
	}
	from, to, marks := p.rest[1:], p.to[p.n:], p.marks
	for {
		found := uint64(0)
		for len(from) >= 8 && len(to) >= 8 {
			word := binary.LittleEndian.Uint64(from)
			binary.LittleEndian.PutUint64(to, word)
			if found = special(word); found != 0 {
				skip := bits.TrailingZeros64(found) >> 3
				from, to = from[skip:], to[skip:]
				break
			}
			from, to = from[8:], to[8:]
		}
		if found == 0 { // the last few bytes of the line
			n := copy(to, from[:plain(from)])
			from, to = from[n:], to[n:]
		}
		if len(from) > 0 && from[0] == '"' {
			text := p.to[p.n : len(p.to)-len(to)]
			p.rest, p.n, p.marks, p.rarer = from[1:], p.n+len(text), marks, false
			return slices.Clip(text), nil
		}
		if len(from) < 5 || len(to) < 3 || from[0] != '\\' || from[1] != '"' && from[1] != '\\' {
			return p.rare()
		}
		to[0] = from[1]
		marks = append(marks, int32(len(p.to)-p.n-len(to)))
		// In most cases a colon or a comma follows, and then the next quote.
		if isPlain(from[2]) && from[3] == '\\' && from[4] == '"' {
			to[1], to[2] = from[2], '"'
			marks = append(marks, int32(len(p.to)-p.n-len(to)+2))
			from, to = from[5:], to[3:]
		} else {
			from, to = from[2:], to[1:]
		}
	}
}

// rare parses a string with other escapes, which must be in the form of [Writer].
func (p *parser) rare() ([]byte, error) {
	end := 1
	for end += plain(p.rest[end:]); end+1 < len(p.rest) && p.rest[end] == '\\'; {
		end += 2
		end += plain(p.rest[end:])
	}
	if end >= len(p.rest) || p.rest[end] != '"' {
		return nil, errShape
	}
	text, err := jsontext.AppendUnquote(p.to[p.n:p.n], p.rest[:end+1])
	if err != nil || string(appendText(nil, text)) != string(p.rest[:end+1]) {
		return nil, errShape
	}
	p.n += len(text)
	p.rest, p.rarer = p.rest[end+1:], true
	return slices.Clip(text), nil
}
