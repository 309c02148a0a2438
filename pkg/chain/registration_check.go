package chain

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Check returns an error, in one sentence, unless the registration is valid.
func (r Registration) Check() error {
	if err := events.CheckHookID(r.ID); err != nil {
		return err
	}
	if err := cmp.Or(r.checkTarget(), r.checkTexts(), r.checkValues(), r.checkContributor()); err != nil {
		return fmt.Errorf("hook %q: %w", r.ID, err)
	}
	return nil
}

// checkTarget checks the events or channels.
func (r Registration) checkTarget() error {
	if (len(r.Events) == 0) == (len(r.Channels) == 0) {
		return errors.New("exactly one of events and channels must be given")
	}
	if len(r.Events)+len(r.Channels) > maxPatterns {
		return fmt.Errorf("at most %d events or channels", maxPatterns)
	}
	for _, p := range r.Events {
		if err := events.CheckPattern(p); err != nil {
			return err
		}
	}
	for _, c := range r.Channels {
		if err := events.CheckChannel(c); err != nil {
			return err
		}
	}
	return nil
}

// checkTexts checks the lengths and characters of texts.
func (r Registration) checkTexts() error {
	for _, t := range [...]struct {
		name, value string
		max         int
	}{
		{"name", r.Name, events.MaxTitleLen},
		{"instance", r.Instance, 128},
		{"version", r.Version, 64},
		{"session_id", r.SessionID, 512},
		{"match", r.Match, maxMatchLen},
	} {
		if utf8.RuneCountInString(t.value) > t.max {
			return fmt.Errorf("%s is longer than %d characters", t.name, t.max)
		}
		if t.name != "match" && strings.ContainsFunc(t.value, unicode.IsControl) {
			return fmt.Errorf("%s has control characters", t.name)
		}
	}
	return nil
}

// checkValues checks members with a few allowed values, and the bounds of numbers.
func (r Registration) checkValues() error {
	if limit := int(MaxTimeout / time.Millisecond); r.TimeoutMS < 0 || r.TimeoutMS > limit {
		return fmt.Errorf("timeout_ms is %d: 1 to %d are allowed", r.TimeoutMS, limit)
	}
	switch r.OnFailure {
	case "", FailOpen, FailClosed:
	default:
		return fmt.Errorf(`on_failure is %q: "continue" or "deny"`, r.OnFailure)
	}
	switch r.Mode {
	case "", Enforce, Shadow, Observe, Async:
	default:
		return fmt.Errorf(`mode is %q: "enforce", "shadow", "observe" or "async"`, r.Mode)
	}
	switch r.Effect {
	case "", Validates:
	default:
		return fmt.Errorf(`effect is %q: "validate", or none`, r.Effect)
	}
	if r.Protocol < 0 {
		return fmt.Errorf("protocol is %d", r.Protocol)
	}
	return nil
}

// checkContributor checks the approval, and rejects what contributors can't have.
func (r Registration) checkContributor() error {
	if err := r.Approval.Check(); err != nil {
		return err
	}
	if len(r.Channels) > 0 && r.Approval != nil {
		return errors.New("a contributor asks nobody, so it has no approval")
	}
	if len(r.Channels) > 0 && (r.Effect != "" || r.SessionID != "" || r.Match != "" || r.Priority != 0 || !r.Enforced()) {
		return errors.New("a contributor has no priority, no match, no session, no mode and no effect")
	}
	return nil
}
