package wire

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const (
	headerErrorCode = "Nats-Service-Error-Code"
	headerError     = "Nats-Service-Error"
)

// Error is an error reply: a code of the protocol, and one sentence with the problem and its
// remedy.
type Error struct {
	Code int
	Text string
}

// Errorf returns an [Error].
func Errorf(code int, format string, args ...any) *Error {
	return &Error{code, fmt.Sprintf(format, args...)}
}

// Error returns the sentence followed by the code.
func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Text, e.Code) }

// FromError returns the error to reply with, or nil for nil. It is the only mapping of errors to
// codes. Packages that wire does not import set the code of an error with a method WireCode() int.
func FromError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	var coded interface{ WireCode() int }
	switch {
	case errors.As(err, &coded):
		return Errorf(coded.WireCode(), "%v", err)
	case errors.Is(err, context.DeadlineExceeded):
		return Errorf(Deadline, "%v", err)
	case errors.Is(err, context.Canceled): // the handler may have had effects
		return Errorf(Deadline, "the time to shut down was over before this was done: nothing was decided")
	default:
		return Errorf(Internal, "%v", err)
	}
}

// ReadError returns the error in a reply's headers, or nil. It limits the text, since anybody may
// have written it.
func ReadError(h Header) *Error {
	code := Get(h, headerErrorCode)
	text := Get(h, headerError)
	if code == "" && text == "" {
		return nil
	}
	n, err := strconv.Atoi(code)
	if err != nil {
		n = Internal
	}
	return &Error{n, oneLine(text)}
}

// Header returns the error as headers of a reply.
func (e *Error) Header() Header {
	return Header{headerErrorCode: {strconv.Itoa(e.Code)}, headerError: {oneLine(e.Text)}}
}

// maxText is the maximum length of an error's text in a header, in bytes. cut marks a truncated
// one.
const (
	maxText = 1024
	cut     = "..."
)

// oneLine makes a text valid in a header: it replaces control characters and limits the length.
func oneLine(s string) string {
	s = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, s)
	if len(s) > maxText+len(cut) {
		s = strings.ToValidUTF8(s[:maxText], "") + cut
	}
	return s
}
