package identity

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Limits are what the hooks of a worker may do. A nil or zero Limits allow everything.
type Limits struct {
	// Events are the patterns that a hook may register for, as in a registration; channels are
	// not among them.
	Events []string `json:"events,omitempty"`
	// Priority bounds the place of a hook in the chain.
	Priority *Band `json:"priority,omitempty"`
	// Actions are what a hook may answer besides continue and deny: modify,
	// inject_context and ask_user; nil means all of them.
	Actions []chain.Action `json:"actions,omitzero"`
	// Fields are the members of an event's data that a hook sees, such as "tool_name" or
	// "tool_input.command"; nil means all. A hook that does not see all can't modify.
	Fields []string `json:"fields,omitempty"`
	// TimeoutMS is the most of a chain's time that one call may take, in milliseconds.
	TimeoutMS int `json:"timeout_ms,omitempty"`
}

// Band is a range of priorities, both ends included.
type Band struct {
	Min int `json:"min"`
	Max int `json:"max"`
}

func (l *Limits) check() error {
	if l == nil {
		return nil
	}
	for _, pattern := range l.Events {
		if err := events.CheckPattern(pattern); err != nil {
			return err
		}
	}
	for _, action := range l.Actions {
		if !slices.Contains([]chain.Action{chain.Modify, chain.InjectContext, chain.AskUser}, action) {
			return fmt.Errorf("action %q: a worker may be allowed %s, %s and %s; continue and deny always are", action, chain.Modify, chain.InjectContext, chain.AskUser)
		}
	}
	for _, field := range l.Fields {
		if slices.Contains(strings.Split(field, "."), "") {
			return fmt.Errorf("field %q: give a member of the data, such as tool_name or tool_input.command", field)
		}
	}
	if len(l.Fields) > 0 && (l.Actions == nil || slices.Contains(l.Actions, chain.Modify)) {
		return errors.New("a hook that does not see all of the data can't modify it: say what it may answer instead, without modify")
	}
	if p := l.Priority; p != nil && p.Min > p.Max {
		return fmt.Errorf("priorities %d to %d are not a range: want the smaller one first", p.Min, p.Max)
	}
	return nil
}

// registration says how a registration exceeds the limits; "" if it does not.
func (l *Limits) registration(r chain.Registration) string {
	if l == nil {
		return ""
	}
	if len(l.Events) > 0 && len(r.Channels) > 0 {
		return fmt.Sprintf("it contributes to channels, but may only register for %q", l.Events)
	}
	for _, pattern := range r.Events {
		if len(l.Events) > 0 && !slices.ContainsFunc(l.Events, func(allowed string) bool { return covers(allowed, pattern) }) {
			return fmt.Sprintf("it registers for %s, but may only register for %q", pattern, l.Events)
		}
	}
	if p := l.Priority; p != nil && (r.Priority < p.Min || r.Priority > p.Max) {
		return fmt.Sprintf("its priority is %d, but must be %d to %d", r.Priority, p.Min, p.Max)
	}
	if most := time.Duration(l.TimeoutMS) * time.Millisecond; most > 0 && r.Timeout() > most {
		return fmt.Sprintf("its timeout is %v, but at most %v is allowed", r.Timeout(), most)
	}
	return ""
}

// covers reports whether allowed matches every event that pattern matches.
func covers(allowed, pattern string) bool {
	return allowed == "*" || allowed == pattern || events.Match(allowed, pattern)
}
