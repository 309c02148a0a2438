package audit

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// scanner validates JSON without decoding it. Verification reads every byte of a log, and needs to
// know only whether a line is a record. The text must be valid UTF-8.
type scanner struct {
	text  []byte
	at    int
	marks []int32 // positions of quotes and backslashes in text
	k     int     // index of the first mark that is not passed

	// shape holds the members of the previous record. The next one usually has the same members,
	// which are then known to be unique.
	shape []member
	own   []int32 // buffer for marks, if the caller has none
}

// member is the name of a member of records, and its meaning for the log.
type member struct {
	key  []byte // "name":
	role role
}

// mark returns the positions of quotes and backslashes in text. ok is false if text has control
// characters.
func mark(marks []int32, text []byte) (_ []int32, ok bool) {
	for at := plain(text); at < len(text); at += 1 + plain(text[at+1:]) {
		if text[at] < ' ' {
			return marks, false
		}
		marks = append(marks, int32(at))
	}
	return marks, true
}

func (s *scanner) fail(why string) error { return fmt.Errorf("%s, at byte %d", why, s.at) }

// space skips spaces. Other white space consists of control characters, which records do not have.
func (s *scanner) space() {
	for s.at < len(s.text) && s.text[s.at] == ' ' {
		s.at++
	}
}

// next returns the next byte, or 0 at the end.
func (s *scanner) next() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

// object validates an object.
func (s *scanner) object(depth int) error {
	for done, err := s.begin('}'), error(nil); !done; done, err = s.more('}') {
		if err != nil {
			return err
		}
		if _, err := s.name(); err != nil {
			return err
		}
		if err := s.value(depth + 1); err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) array(depth int) error {
	for done, err := s.begin(']'), error(nil); !done; done, err = s.more(']') {
		if err != nil {
			return err
		}
		if err := s.value(depth + 1); err != nil {
			return err
		}
	}
	return nil
}

// begin reads the first byte of an object or array, and also the last one if it is empty.
func (s *scanner) begin(end byte) (done bool) {
	s.at++
	if s.space(); s.next() != end {
		return false
	}
	s.at++
	return true
}

// name reads the name of a member, without quotes, and skips to the value.
func (s *scanner) name() ([]byte, error) {
	start := s.at + 1
	if err := s.str(); err != nil {
		return nil, err
	}
	name := s.text[start : s.at-1]
	if rest := s.text[s.at:]; len(rest) > 1 && rest[0] == ':' && rest[1] != ' ' {
		s.at++ // the common case
		return name, nil
	}
	if s.space(); s.next() != ':' {
		return nil, s.fail("a ':' is missing")
	}
	s.at++
	s.space()
	return name, nil
}

// more reads a comma and the spaces after it, or the end of an object or array.
func (s *scanner) more(end byte) (done bool, err error) {
	s.space()
	switch s.next() {
	case ',':
		s.at++
		s.space()
		return false, nil
	case end:
		s.at++
		return true, nil
	}
	return false, s.fail("a ',' is missing")
}

func (s *scanner) value(depth int) error {
	if depth > maxNesting {
		return s.fail("nested too deep")
	}
	switch c := s.next(); c {
	case '"':
		return s.str()
	case '{':
		return s.object(depth)
	case '[':
		return s.array(depth)
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	default:
		return s.number()
	}
}

func (s *scanner) literal(want string) error {
	if len(s.text)-s.at < len(want) || string(s.text[s.at:s.at+len(want)]) != want {
		return s.fail("no JSON value")
	}
	s.at += len(want)
	return nil
}

// str validates a string, from mark to mark.
func (s *scanner) str() error {
	if s.next() != '"' {
		return s.fail("no JSON value")
	}
	for s.k++; s.k < len(s.marks); s.k++ {
		s.at = int(s.marks[s.k])
		if s.text[s.at] == '"' {
			s.at++
			s.k++
			return nil
		}
		if !s.escape() {
			return s.fail("a bad escape in a string")
		}
	}
	return s.fail("a string does not end")
}

// escape validates the escape at mark k. The second character of an escaped quote or backslash is a
// mark too, which it passes.
func (s *scanner) escape() bool {
	switch s.text[min(s.at+1, len(s.text)-1)] {
	case '"', '\\':
		s.k++
		return s.k < len(s.marks)
	case '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
		hex := s.text[s.at+2 : min(s.at+6, len(s.text))]
		return len(hex) == 4 && isHex(hex)
	}
	return false
}

func isHex(digits []byte) bool {
	for _, c := range digits {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return true
}

func (s *scanner) number() error {
	if s.next() == '-' {
		s.at++
	}
	zero := s.next() == '0'
	if n := s.digits(); n == 0 || zero && n > 1 {
		return s.fail("no JSON value")
	}
	if s.next() == '.' {
		s.at++
		if s.digits() == 0 {
			return s.fail("a bad number")
		}
	}
	if c := s.next(); c == 'e' || c == 'E' {
		s.at++
		if c := s.next(); c == '+' || c == '-' {
			s.at++
		}
		if s.digits() == 0 {
			return s.fail("a bad number")
		}
	}
	return nil
}

func (s *scanner) digits() int {
	start := s.at
	for c := s.next(); '0' <= c && c <= '9'; c = s.next() {
		s.at++
	}
	return s.at - start
}

// plain returns how many bytes at the start of text stand for themselves in a JSON string: no
// quotes, backslashes or control characters.
func plain(text []byte) int {
	n := 0
	for ; len(text)-n >= 8; n += 8 {
		if found := special(binary.LittleEndian.Uint64(text[n:])); found != 0 {
			return n + bits.TrailingZeros64(found)>>3
		}
	}
	for n < len(text) && isPlain(text[n]) {
		n++
	}
	return n
}

func isPlain(c byte) bool { return c >= ' ' && c != '"' && c != '\\' }

// special returns a word with the top bit set in the first byte of word that is not plain, and
// maybe in bytes after it.
func special(word uint64) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, slash := word^ones*'"', word^ones*'\\'
	return ((word-ones*' ')&^word | (quote-ones)&^quote | (slash-ones)&^slash) & tops
}
