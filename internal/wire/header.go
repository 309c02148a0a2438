package wire

import (
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/shorten"
)

// Header contains the headers of a message.
type Header = map[string][]string

// The headers of the wire protocol.
const (
	HeaderProtocol    = "Hook-Protocol"
	HeaderDefaults    = "Hook-Defaults"
	HeaderTimeout     = "Hook-Timeout-Ms"
	HeaderEventID     = "Hook-Event-Id"
	HeaderChainID     = "Hook-Chain-Id"
	HeaderCallID      = "Hook-Call-Id"
	HeaderNonce       = "Hook-Nonce" // of a request, repeated by its reply
	HeaderMode        = "Hook-Mode"
	HeaderRule        = "Hook-Rule"     // of a hook's reply: the rule that decided
	HeaderPolicy      = "Hook-Policy"   // of a hook's reply: the version of the policy that it applied
	HeaderRevision    = "Hook-Revision" // of a stored policy
	HeaderAudit       = "Hook-Audit"    // strict, async or off: how the answer was recorded
	HeaderCount       = "Hook-Count"
	HeaderDeniedBy    = "Hook-Denied-By"
	HeaderFailedOpen  = "Hook-Failed-Open"
	HeaderFrom        = "Hook-From"
	HeaderMissing     = "Hook-Missing"
	HeaderRetry       = "Hook-Retry"
	HeaderWait        = "Hook-Wait-Ms"
	HeaderTotal       = "Hook-Total"
	HeaderTurn        = "Hook-Turn" // identifies a turn of the session, for the trace of agents that have none
	HeaderTraceparent = "traceparent"
	HeaderTracestate  = "tracestate"
	HeaderBaggage     = "baggage" // W3C baggage
)

// Get returns the first value of a header, ignoring case, or "".
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

// RequestHeader contains the headers of an agent's request other than the event's attributes.
// Missing headers are "".
type RequestHeader struct {
	Timeout, Defaults, Traceparent, Tracestate, Wait, Retry, Turn, Baggage string
	// Size is the total size of all headers in bytes, including unused ones.
	Size int
}

// ReadRequestHeader reads these headers in one pass, ignoring case.
func ReadRequestHeader(h Header) RequestHeader {
	var out RequestHeader
	for name, values := range h {
		for _, value := range values {
			out.Size += len(name) + len(value)
		}
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
			{HeaderTurn, &out.Turn},
			{HeaderBaggage, &out.Baggage},
		} {
			if len(name) == len(known.name) && strings.EqualFold(name, known.name) && (*known.value == "" || name == known.name) {
				*known.value = values[0]
			}
		}
	}
	return out
}

// Timeout parses the value of a Hook-Timeout-Ms header: milliseconds as an integer from 1, limited
// to longest. It returns fallback for an empty text.
func Timeout(text string, fallback, longest time.Duration) (time.Duration, error) {
	if text == "" {
		return fallback, nil
	}
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ms < 1 {
		return 0, Errorf(Malformed, "%s is %q: a whole number of milliseconds from 1 is needed", HeaderTimeout, shorten.Bytes(text, 80, "..."))
	}
	return min(time.Duration(min(ms, int64(longest/time.Millisecond)+1))*time.Millisecond, longest), nil
}
