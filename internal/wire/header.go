package wire

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Header holds the headers of a message.
type Header = nats.Header

// The headers of the wire protocol.
const (
	HeaderProtocol    = "Hook-Protocol"
	HeaderDefaults    = "Hook-Defaults"
	HeaderTimeout     = "Hook-Timeout-Ms"
	HeaderEventID     = "Hook-Event-Id"
	HeaderChainID     = "Hook-Chain-Id"
	HeaderCallID      = "Hook-Call-Id"
	HeaderMode        = "Hook-Mode"
	HeaderAudit       = "Hook-Audit" // strict, async or off: how the answer was recorded
	HeaderCount       = "Hook-Count"
	HeaderDeniedBy    = "Hook-Denied-By"
	HeaderFailedOpen  = "Hook-Failed-Open"
	HeaderFrom        = "Hook-From"
	HeaderMissing     = "Hook-Missing"
	HeaderRetry       = "Hook-Retry"
	HeaderWait        = "Hook-Wait-Ms"
	HeaderTotal       = "Hook-Total"
	HeaderTurn        = "Hook-Turn" // names a turn of the session, for the trace of who has none
	HeaderTraceparent = "traceparent"
	HeaderTracestate  = "tracestate"

	headerErrorCode = "Nats-Service-Error-Code"
	headerError     = "Nats-Service-Error"
)

// Get returns the first value of a header, its name in any case, or "".
func Get(h Header, name string) string {
	if v := h[name]; len(v) > 0 {
		return v[0]
	}
	for k, v := range h {
		if len(v) > 0 && strings.EqualFold(k, name) {
			return v[0]
		}
	}
	return ""
}

// RequestHeader holds the headers that an agent's request may carry besides the
// event's attributes; "" stands for what is not there.
type RequestHeader struct {
	Timeout, Defaults, Traceparent, Tracestate, Wait, Retry string
}

// ReadRequestHeader reads them in one pass, their names in any case.
func ReadRequestHeader(h Header) RequestHeader {
	var out RequestHeader
	for name, values := range h {
		if len(values) == 0 {
			continue
		}
		for _, known := range [...]struct {
			name  string
			value *string
		}{
			{HeaderTimeout, &out.Timeout},
			{HeaderDefaults, &out.Defaults},
			{HeaderTraceparent, &out.Traceparent},
			{HeaderTracestate, &out.Tracestate},
			{HeaderWait, &out.Wait},
			{HeaderRetry, &out.Retry},
		} {
			if len(name) == len(known.name) && strings.EqualFold(name, known.name) && (*known.value == "" || name == known.name) {
				*known.value = values[0]
			}
		}
	}
	return out
}

// Timeout reads the text of a Hook-Timeout-Ms header: a whole number of
// milliseconds from 1, capped at longest; fallback where there is none.
func Timeout(text string, fallback, longest time.Duration) (time.Duration, error) {
	if text == "" {
		return fallback, nil
	}
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ms < 1 {
		return 0, Errorf(Malformed, "%s is %q: a whole number of milliseconds from 1 is needed", HeaderTimeout, clip(text))
	}
	return min(time.Duration(min(ms, int64(longest/time.Millisecond)+1))*time.Millisecond, longest), nil
}

// The refusal codes of the wire protocol.
const (
	Malformed   = 400 // the request can't be understood
	Forbidden   = 403 // who sent it is not known, and must be
	NotFound    = 404 // what it names is unknown
	Conflict    = 409 // it contradicts what is there
	Gone        = 410 // its time for an answer is over
	TooLarge    = 413 // more bytes than are allowed
	Overloaded  = 429 // too much is under way; try again later
	Internal    = 500 // a defect of the answering side
	BadAnswer   = 502 // a hook's own program answered what is no result
	Unavailable = 503 // it can't be served now; nothing was done
	Deadline    = 504 // its time was over
)

// Error is an answer that refuses: a code of the protocol and one sentence
// that says what was wrong and what to do.
type Error struct {
	Code int
	Text string
}

// Refuse makes a refusal.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{code, fmt.Sprintf(format, args...)}
}

// CodeOf is the code of an error that is a refusal, else 0.
func CodeOf(err error) int {
	if refusal, ok := errors.AsType[*Error](err); ok {
		return refusal.Code
	}
	return 0
}

// Error is the sentence with its code.
func (r *Error) Error() string { return fmt.Sprintf("%s (%d)", r.Text, r.Code) }

// ErrorFrom reads the refusal that a reply carries, or nil.
func ErrorFrom(h Header) *Error {
	code := Get(h, headerErrorCode)
	text := Get(h, headerError)
	if code == "" && text == "" {
		return nil
	}
	n, err := strconv.Atoi(code)
	if err != nil {
		n = Internal
	}
	return &Error{n, text}
}

func (r *Error) Header() Header {
	return Header{headerErrorCode: {strconv.Itoa(r.Code)}, headerError: {oneLine(r.Text)}}
}

// oneLine makes text fit for a header: no control characters, a bounded length.
func oneLine(s string) string {
	s = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, s)
	if len(s) > 1024 {
		s = strings.ToValidUTF8(s[:1024], "") + "..."
	}
	return s
}

func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "..."
	}
	return s
}
