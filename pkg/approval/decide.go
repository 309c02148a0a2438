package approval

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Errors of an answer. What [Decide] returns wraps one of them and says more.
var (
	// ErrMalformed: the answer itself is not one.
	ErrMalformed error = &answerError{"malformed answer", 400}
	// ErrNotOffered: the option is none of the approval request's.
	ErrNotOffered error = &answerError{"option not offered", 400}
	// ErrOtherData: the answer is to other data than the approval request is about.
	ErrOtherData error = &answerError{"answer to other data", 409}
	// ErrExpired: the time to answer is over.
	ErrExpired error = &answerError{"approval expired", 410}
)

// answerError is why an answer decides nothing, with its code of the wire protocol.
type answerError struct {
	text string
	code int
}

func (e *answerError) Error() string { return e.text }

// WireCode is the code that the error is answered with.
func (e *answerError) WireCode() int { return e.code }

// Limits of an answer in bytes, so that a record stays a small message.
const (
	MaxNote = 4 << 10 // of a note, of an error, and of an option that was not offered
	MaxBy   = 256     // of the name that an answer claims to be from
)

// What [Request.Default] may be. What is not "allow" denies.
const (
	DefaultDeny  = "deny"
	DefaultAllow = "allow"
)

// Names in [Decision.DecidedBy] that are nobody's.
const (
	Unauthenticated = "unauthenticated" // the connection proves nothing
	ByTimeout       = "timeout"         // nobody answered in time
	ByOutdated      = "outdated"        // the session saw more before anybody answered
	byRule          = "rule "           // before the rule's name
)

// The options that grant, in lower case; all others deny.
const (
	allow       = "allow"
	allowOnce   = "allow once"
	allowAlways = "allow always"
)

// Grants reports whether an option grants: Allow, Allow once or Allow always, in
// any case of letters and with nothing around it.
func Grants(option string) bool {
	switch plain(option) {
	case allow, allowOnce, allowAlways:
		return true
	}
	return false
}

// Remembered reports whether an option grants for the rest of the session too,
// which only Allow always does.
func Remembered(option string) bool { return plain(option) == allowAlways }

// plain is an option without the case of its letters. ToLower and not EqualFold:
// that one takes letters like ſ for s, and granting takes no lookalikes.
func plain(option string) string { return strings.ToLower(option) }

// Decide is what an answer decides, given at now by who the connection proves, or
// "". An offered option in any case of letters decides, with [Answer.FreeText]
// every other too, the empty one included, and with [Answer.Error] the request's
// default. An error decides nothing: it is [ErrMalformed],
// [ErrExpired], [ErrOtherData] or [ErrNotOffered], looked for in this order.
func Decide(q Request, a Answer, who string, now time.Time) (Decision, error) {
	if err := a.checkFor(q, now); err != nil {
		return Decision{}, err
	}
	if a.Pass {
		return Decision{}, fmt.Errorf("%w: it passes the request on, which decides nothing", ErrMalformed)
	}
	who = cmp.Or(who, Unauthenticated)
	d := Decision{DecidedBy: who, ClaimedBy: a.By, Note: a.Note, Decided: At(now)}
	if a.Error != "" {
		d.Error, d.Granted = a.Error, q.Default == DefaultAllow
		return d, nil
	}
	option, offered := q.offered(a.Option)
	if !offered && !a.FreeText {
		return Decision{}, fmt.Errorf("%w: %q is none of %s", ErrNotOffered, clip(a.Option, 80), clip(quoted(q.Options), 600))
	}
	d.Option, d.Granted = option, Grants(option)
	if err := d.grant(q, a, offered); err != nil {
		return Decision{}, err
	}
	return d, nil
}

// TimedOut is what holds when nobody has answered until now: the default.
func TimedOut(q Request, now time.Time) Decision {
	return Decision{Granted: q.Default == DefaultAllow, DecidedBy: ByTimeout, Decided: At(now), TimedOut: true}
}

// Outdated ends an open approval request whose session got the labels seen since a person
// was asked: its event may be judged and asked about anew. See [IDAfter].
func Outdated(seen []string, now time.Time) Decision {
	note := "Since this was asked, the session has seen more: " + strings.Join(seen, ", ") + ". Try again, so that it is judged anew"
	return Decision{DecidedBy: ByOutdated, Note: clip(note, MaxNote), Decided: At(now)}
}

// Reason is why an agent may not go on, in the words of the wire protocol; empty
// where it may.
func Reason(q Request, d Decision) string {
	if d.Granted {
		return ""
	}
	prompt := clip(q.Prompt, 200)
	rule, byRule := strings.CutPrefix(d.DecidedBy, byRule)
	switch {
	case d.TimedOut:
		return "Approval timeout - denied by default: " + prompt
	case d.Error != "":
		return "Approval error - denied by default: " + prompt
	case d.DecidedBy == ByOutdated:
		return d.Note
	case byRule:
		return "Denied by rule " + rule + ": " + prompt
	}
	return "User denied: " + prompt
}

// check says what is wrong with an answer to any request.
func (a Answer) check() error {
	switch {
	case a.Pass && (a.Error != "" || a.Option != "" || a.FreeText):
		return fmt.Errorf("%w: it passes the request on, and chooses: do one of both", ErrMalformed)
	case (a.Pass || a.Error != "") && (a.Scope != "" || !a.Expires.IsZero()):
		return fmt.Errorf("%w: scope and expires go with an Allow always", ErrMalformed)
	case a.Error != "" && a.Option != "":
		return fmt.Errorf("%w: it has both an option and an error: send one of them", ErrMalformed)
	case a.Error == "" && a.Option == "" && !a.FreeText && !a.Pass:
		return fmt.Errorf("%w: it has no option: send one that is offered", ErrMalformed)
	}
	for _, text := range [...]struct {
		name, value string
		limit       int
	}{{"option", a.Option, MaxNote}, {"by", a.By, MaxBy}, {"note", a.Note, MaxNote}, {"error", a.Error, MaxNote}} {
		if len(text.value) > text.limit {
			return fmt.Errorf("%w: %s has %d bytes: at most %d are allowed", ErrMalformed, text.name, len(text.value), text.limit)
		}
	}
	return nil
}

// offered is the option as the request offers it, and whether it does; else the
// option as it was given.
func (q Request) offered(option string) (string, bool) {
	for _, o := range q.Options {
		if strings.EqualFold(o, option) {
			return o, true
		}
	}
	return option, false
}

func quoted(options []string) string {
	list := make([]string, len(options))
	for i, o := range options {
		list[i] = fmt.Sprintf("%q", o)
	}
	return strings.Join(list, ", ")
}

// clip cuts a text after n characters and marks that.
func clip(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n]) + "...[truncated]"
}
