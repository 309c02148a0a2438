package events

import (
	"cmp"
	"fmt"
	"strings"
)

// DefaultPrefix is the default of the first token of all subjects.
const DefaultPrefix = "hooks"

// Subjects names the subjects, the queue group and the bucket of one fleet of routers. Fleets on
// one NATS account differ by prefix.
type Subjects struct{ prefix string }

// NewSubjects returns the subjects with a prefix: one token of a-z, 0-9, '_' and '-', at most 32
// characters; empty means [DefaultPrefix].
func NewSubjects(prefix string) (Subjects, error) {
	prefix = cmp.Or(prefix, DefaultPrefix)
	ok := len(prefix) <= 32
	for i := 0; ok && i < len(prefix); i++ {
		ok = lowerDigit(prefix[i]) || prefix[i] == '_' || prefix[i] == '-'
	}
	if !ok {
		return Subjects{}, fmt.Errorf("prefix %q: 1 to 32 of a-z, 0-9, '_' and '-'", clip(prefix))
	}
	return Subjects{prefix}, nil
}

// Prefix returns the first token of all subjects, which is [DefaultPrefix] for the zero Subjects.
func (s Subjects) Prefix() string {
	if s.prefix == "" {
		return DefaultPrefix
	}
	return s.prefix
}

// QueueGroup returns the queue group of all replicas of the router.
func (s Subjects) QueueGroup() string { return s.Prefix() + "-router" }

// Bucket returns the name of the key-value bucket with the registrations.
func (s Subjects) Bucket() string { return s.Prefix() + "_registry" }

// AuditStream returns the name of the stream with the audit records.
func (s Subjects) AuditStream() string { return strings.ToUpper(s.Prefix()) + "_AUDIT" }

// Of joins the prefix, a verb and further tokens: Of("emit", "tool.pre") is
// "hooks.emit.tool.pre".
func (s Subjects) Of(tokens ...string) string {
	return s.Prefix() + "." + strings.Join(tokens, ".")
}

// Event returns the subject of a verb for an event: Event("emit", "tool:pre") is
// "hooks.emit.tool.pre".
func (s Subjects) Event(verb, name string) string {
	return s.Prefix() + "." + verb + "." + strings.ReplaceAll(name, ":", ".")
}

// Call returns the subject on which the hook with this id is called.
func (s Subjects) Call(id string) string { return s.Prefix() + ".call." + id }

// CallCancel returns the subject on which routers tell the workers of a hook that only validates
// which call to cancel.
func (s Subjects) CallCancel(id string) string { return s.Call(id) + ".cancel" }

// Tail returns the rest of subject after "<prefix>.<verb>.", or "" if subject does not begin with
// that.
func (s Subjects) Tail(verb, subject string) string {
	for _, token := range [...]string{s.Prefix(), verb} {
		rest, ok := strings.CutPrefix(subject, token)
		if !ok || !strings.HasPrefix(rest, ".") {
			return ""
		}
		subject = rest[1:]
	}
	return subject
}

// EventName returns the event that a subject of this verb names, and an error if the tokens are not
// a valid event name. A colon in a token is an error: it would give the event a second subject,
// which permissions for the first do not cover.
func (s Subjects) EventName(verb, subject string) (string, error) {
	tail := s.Tail(verb, subject)
	name := strings.ReplaceAll(tail, ".", ":")
	if strings.Contains(tail, ":") {
		return name, fmt.Errorf("subject %q: the parts of an event name are joined by '.' there: %s", clip(subject), clip(s.Event(verb, name)))
	}
	return name, CheckName(name)
}
