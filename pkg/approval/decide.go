package approval

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Errors of an answer. [Decide] wraps one of them with details.
var (
	// ErrMalformed means that the answer is malformed.
	ErrMalformed error = &answerError{"malformed answer", 400}
	// ErrNotOffered means that the approval request does not offer the option.
	ErrNotOffered error = &answerError{"option not offered", 400}
	// ErrOtherData means that the answer is for other data than that of the approval request.
	ErrOtherData error = &answerError{"answer to other data", 409}
	// ErrExpired means that the time to answer is over.
	ErrExpired error = &answerError{"approval expired", 410}
)

// answerError is an error of an answer, with its code in the wire protocol.
type answerError struct {
	text string
	code int
}

func (e *answerError) Error() string { return e.text }

// WireCode returns the error's code in the wire protocol.
func (e *answerError) WireCode() int { return e.code }

// Limits of an answer, in bytes. They keep records small.
const (
	MaxNote = 4 << 10 // bytes of a note, of an error, and of an option that was not offered
	MaxBy   = 256     // bytes of the claimed name
)

// The values of [Request.Default]. Anything but "allow" denies.
const (
	DefaultDeny  = "deny"
	DefaultAllow = "allow"
)

// Values of [Decision.DecidedBy] that are not identities.
const (
	Unauthenticated = "unauthenticated" // the connection proves nothing
	ByTimeout       = "timeout"         // nobody answered in time
	ByOutdated      = "outdated"        // the session got labels, ended or had its approvals revoked before anybody answered
	byRule          = "rule "           // prefix of the rule's name
)

// The options that grant, in lower case. All others deny.
const (
	allow       = "allow"
	allowOnce   = "allow once"
	allowAlways = "allow always"
)

// Grants reports whether an option grants: Allow, Allow once or Allow always, ignoring case.
func Grants(option string) bool {
	switch plain(option) {
	case allow, allowOnce, allowAlways:
		return true
	}
	return false
}

// Remembered reports whether an option also grants for the rest of the session, as only Allow
// always does.
func Remembered(option string) bool { return plain(option) == allowAlways }

// plain folds the case of an option. It uses ToLower because EqualFold matches lookalikes such as ſ
// for s, which must not grant.
func plain(option string) string { return strings.ToLower(option) }

// Decide returns the decision that an answer makes. who is the proven identity that answered at
// now, or "". Offered options match in any case. [Answer.FreeText] accepts any other option too,
// even an empty one, and [Answer.Error] applies the request's default. An error decides nothing; it
// wraps [ErrMalformed], [ErrExpired], [ErrOtherData] or [ErrNotOffered], checked in this order.
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
		return Decision{}, fmt.Errorf("%w: %q is not one of %s", ErrNotOffered, clip(a.Option, 80), clip(quoted(q.Options), 600))
	}
	d.Option, d.Granted = option, Grants(option)
	if err := d.grant(q, a, offered); err != nil {
		return Decision{}, err
	}
	return d, nil
}

// TimedOut returns the decision on a request that nobody answered: its default.
func TimedOut(q Request, now time.Time) Decision {
	return Decision{Granted: q.Default == DefaultAllow, DecidedBy: ByTimeout, Decided: At(now), TimedOut: true}
}

// Outdated returns the decision that ends a request whose session got the labels seen since a
// person was asked. The event may be decided and asked about again. See [IDAfter].
func Outdated(seen []string, now time.Time) Decision {
	note := "Since this was asked, the session has seen more: " + strings.Join(seen, ", ") + ". Try again, so that it is judged again"
	return Decision{DecidedBy: ByOutdated, Note: clip(note, MaxNote), Decided: At(now)}
}

// Revoked returns the decision that ends a request whose session ended, or had its approvals
// revoked, since a person was asked. The event may be decided and asked about again, as after
// [Outdated].
func Revoked(now time.Time) Decision {
	const note = "Since this was asked, the session ended, or its approvals were revoked. Try again, so that it is judged again"
	return Decision{DecidedBy: ByOutdated, Note: note, Decided: At(now)}
}

// Reason returns the reason for a denial that the agent is shown; empty if d grants.
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

// check validates an answer independently of the request.
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

// offered returns the option as the request spells it and true, or the option as given and false if
// the request does not offer it.
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

// clip truncates a text to n characters and marks that.
func clip(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n]) + "...[truncated]"
}
