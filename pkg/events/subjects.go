package events

import (
	"cmp"
	"fmt"
	"strings"
)

// DefaultPrefix is the first token of every subject where nothing else was
// configured.
const DefaultPrefix = "hooks"

// Subjects names the subjects, the queue group and the bucket of one router
// fleet. A fleet is told from another on the same NATS account by its prefix.
type Subjects struct{ prefix string }

// NewSubjects returns the subjects below prefix, which is one token of a-z,
// 0-9, '_' and '-', at most 32 characters; empty means [DefaultPrefix].
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

// Prefix is the first token of every subject. The zero Subjects has
// [DefaultPrefix].
func (s Subjects) Prefix() string {
	if s.prefix == "" {
		return DefaultPrefix
	}
	return s.prefix
}

// QueueGroup is the group in which all replicas of the router answer.
func (s Subjects) QueueGroup() string { return s.Prefix() + "-router" }

// Bucket is the key-value bucket that holds the registrations.
func (s Subjects) Bucket() string { return s.Prefix() + "_registry" }

// AuditStream is the stream that holds the audit records.
func (s Subjects) AuditStream() string { return strings.ToUpper(s.Prefix()) + "_AUDIT" }

// Of joins the prefix, a verb and further tokens: Of("emit", "tool.pre") is
// "hooks.emit.tool.pre".
func (s Subjects) Of(tokens ...string) string {
	return s.Prefix() + "." + strings.Join(tokens, ".")
}

// Event is the subject of a verb for an event: Event("emit", "tool:pre") is
// "hooks.emit.tool.pre".
func (s Subjects) Event(verb, name string) string {
	return s.Prefix() + "." + verb + "." + strings.ReplaceAll(name, ":", ".")
}

// Call is the subject on which the hook with this id is called.
func (s Subjects) Call(id string) string { return s.Prefix() + ".call." + id }

// CallCancel is where the workers of a hook that only validates hear which call's answer
// does not count any more.
func (s Subjects) CallCancel(id string) string { return s.Call(id) + ".cancel" }

// Tail returns what follows "<prefix>.<verb>." in subject, or "" where nothing
// does.
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

// EventName returns the event that a subject of this verb names, and an error
// where the tokens form no event name. An event has one subject: a colon in a token
// would be another, which a permission for the first does not cover.
func (s Subjects) EventName(verb, subject string) (string, error) {
	tail := s.Tail(verb, subject)
	name := strings.ReplaceAll(tail, ".", ":")
	if strings.Contains(tail, ":") {
		return name, fmt.Errorf("subject %q: the parts of an event name are joined by '.' there: %s", clip(subject), clip(s.Event(verb, name)))
	}
	return name, CheckName(name)
}
