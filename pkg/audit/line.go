package audit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxLine is the maximum length of a line of an export, and so of a record, in bytes.
const MaxLine = 8 << 20

const (
	maxMembers = 256 // of a record
	maxName    = 256 // of a member's name, in bytes
	maxNesting = 256
)

// facts is what the log itself needs of a record.
type facts struct {
	writer   []byte // nil if the record names none
	wseq     int64
	required int // number of required members found
}

// required are the members that every record has. All are strings.
var required = [...]string{"time", "kind", "chain_id", "session_id", "event", "hook", "action"}

// CheckLine returns an error unless line, without its LF, is a valid record: one JSON object of at
// most [MaxLine] bytes in UTF-8 without control characters, with the strings time, kind, chain_id,
// session_id, event, hook and action. It has both writer, a word, and wseq, from 1, or neither.
// Top-level names are unique and have no escapes.
func CheckLine(line []byte) error {
	_, err := new(scanner).line(line, nil)
	return err
}

// line parses a record. marks are the positions of quotes and backslashes in a line without control
// characters; nil if unknown.
func (s *scanner) line(line []byte, marks []int32) (facts, error) {
	switch {
	case len(line) == 0:
		return facts{}, errors.New("an empty line")
	case len(line) > MaxLine:
		return facts{}, fmt.Errorf("a line of more than %d bytes", MaxLine)
	case line[len(line)-1] == '\r':
		return facts{}, errors.New("a line ends with CR LF, not LF alone")
	case !utf8.Valid(line):
		return facts{}, errors.New("not UTF-8")
	}
	if marks == nil {
		var ok bool
		if s.own, ok = mark(s.own[:0], line); !ok {
			return facts{}, errors.New("a control character in a record")
		}
		marks = s.own
	}
	s.text, s.at, s.marks, s.k = line, 0, marks, 0
	f, err := s.record()
	if err != nil {
		return facts{}, err
	}
	if s.space(); s.at != len(line) {
		return facts{}, s.fail("something follows the object")
	}
	return f, nil
}

// record parses the object that is a record.
func (s *scanner) record() (facts, error) {
	if s.space(); s.next() != '{' {
		return facts{}, s.fail("no JSON object")
	}
	var f facts
	done := s.begin('}')
	for n := 0; !done; n++ {
		role, err := s.member(n)
		if err != nil {
			return facts{}, err
		}
		start := s.at
		if s.next() == '"' {
			err = s.str()
		} else {
			err = s.value(1)
		}
		if err != nil {
			return facts{}, err
		}
		if role == needed && s.text[start] == '"' {
			f.required++
		} else if role != other {
			if err := f.take(role, s.text[start:s.at]); err != nil {
				return facts{}, err
			}
		}
		if rest := s.text[s.at:]; len(rest) > 1 && rest[0] == ',' && rest[1] == '"' {
			s.at++ // the common case
		} else if done, err = s.more('}'); err != nil {
			return facts{}, err
		}
	}
	if err := f.complete(); err != nil {
		return facts{}, err
	}
	return f, nil
}

// member reads the name of the n-th member of the record, and returns an error if an earlier one
// has it.
func (s *scanner) member(n int) (role, error) {
	if n < len(s.shape) && bytes.HasPrefix(s.text[s.at:], s.shape[n].key) {
		s.at += len(s.shape[n].key)
		s.k += 2 // its quotes
		s.space()
		return s.shape[n].role, nil
	}
	first := s.k
	name, err := s.name()
	switch {
	case err != nil:
		return other, err
	case s.k > first+2:
		return other, s.fail("the name of a member has an escape")
	case n == maxMembers || len(name) > maxName:
		return other, s.fail("too many members, or too long a name of one")
	}
	for _, m := range s.shape[:n] {
		if string(m.key[1:len(m.key)-2]) == string(name) {
			return other, s.fail(fmt.Sprintf("the name %q stands there twice", clip(name)))
		}
	}
	s.shape = slices.Grow(s.shape[:n], 1)[:n+1]
	m := &s.shape[n] // the key in shape may be an earlier record's
	m.key = append(append(append(m.key[:0], '"'), name...), '"', ':')
	m.role = roleOf(name)
	return m.role, nil
}

// role is the meaning of a member for the log.
type role int

const (
	other role = iota
	needed
	writer
	wseq
)

func roleOf(name []byte) role {
	switch string(name) {
	case "writer":
		return writer
	case "wseq":
		return wseq
	case "time", "kind", "chain_id", "session_id", "event", "hook", "action":
		return needed
	default:
		return other
	}
}

// take records a member that has a meaning for the log, other than a required string.
func (f *facts) take(role role, value []byte) error {
	switch role {
	case writer:
		if value[0] != '"' || !isWord(value[1:len(value)-1]) {
			return errors.New(`"writer" must be a word without escapes`)
		}
		f.writer = value[1 : len(value)-1]
	case wseq:
		n, ok := parseCount(value)
		if !ok || n == 0 {
			return errors.New(`"wseq" must be a whole number from 1`)
		}
		f.wseq = n
	case needed:
		return fmt.Errorf("%s must all be strings", strings.Join(required[:], ", "))
	case other:
	}
	return nil
}

// complete returns an error if a record lacks members.
func (f *facts) complete() error {
	if f.required != len(required) {
		return fmt.Errorf("no record: it lacks one of %s", strings.Join(required[:], ", "))
	}
	if (f.writer == nil) != (f.wseq == 0) {
		return errors.New(`"writer" and "wseq" go together`)
	}
	return nil
}

// isWord reports whether text can be a word in a checkpoint, such as the names of logs and writers.
func isWord[T string | []byte](text T) bool {
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return len(text) > 0 && len(text) <= 256
}

// parseCount parses an unsigned integer of at most 18 digits without leading zeros.
func parseCount[T string | []byte](text T) (n int64, ok bool) {
	if len(text) == 0 || len(text) > 18 || text[0] == '0' && len(text) > 1 {
		return 0, false
	}
	for i := range len(text) {
		c := text[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// clip shortens untrusted text for a message, between characters.
func clip(text []byte) string {
	const limit = 40
	if len(text) <= limit {
		return string(text)
	}
	for end := limit; end > limit-utf8.UTFMax; end-- {
		if utf8.RuneStart(text[end]) {
			return string(text[:end])
		}
	}
	return string(text[:limit]) // not UTF-8
}
