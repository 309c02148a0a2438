package approval

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// DefaultPrompt is the prompt of a request whose hook gives none.
const DefaultPrompt = "Allow this operation?"

// DefaultOptions returns the options of a request whose hook lists none.
func DefaultOptions() []string { return []string{"Allow", "Deny"} }

// Limits of an approval request.
const (
	MaxPrompt  = 16 << 10 // bytes of a prompt
	MaxOptions = 50       // options of one request
	MaxOption  = 256      // characters of one option
)

// The default and the maximum of the time to answer.
const (
	DefaultTimeout = 300 * time.Second
	MaxTimeout     = 7 * 24 * time.Hour
)

// Check returns an error if a person can't be shown the prompt or can't choose from the options. An
// empty prompt or list is valid: the defaults apply.
func Check(prompt string, options []string) error {
	if len(prompt) > MaxPrompt {
		return fmt.Errorf("approval_prompt has %d bytes: at most %d are allowed", len(prompt), MaxPrompt)
	}
	if len(options) > MaxOptions {
		return fmt.Errorf("approval_options has %d options: at most %d are allowed", len(options), MaxOptions)
	}
	for i, o := range options {
		if err := checkLine(o); err != nil {
			return fmt.Errorf("approval_options[%d] %w", i, err)
		}
		for j, other := range options[:i] {
			if strings.EqualFold(o, other) {
				return fmt.Errorf("approval_options[%d] %q is the same as option %d: options must differ in more than the case of letters", i, clip(o, 80), j)
			}
		}
	}
	return nil
}

// checkLine returns an error unless text is a single visible line.
func checkLine(text string) error {
	switch n := utf8.RuneCountInString(text); {
	case n > MaxOption:
		return fmt.Errorf("has %d characters: at most %d are allowed", n, MaxOption)
	case strings.ContainsFunc(text, unicode.IsControl):
		return fmt.Errorf("has control characters: %q", clip(text, 80))
	case !strings.ContainsFunc(text, visible):
		return errors.New("is blank: people must see it")
	}
	return nil
}

func visible(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }

// Timeout returns the time to answer that a hook sets with seconds, rounded to milliseconds:
// [DefaultTimeout] if seconds is nil, 0 if it is negative or NaN, and at most [MaxTimeout].
func Timeout(seconds *float64) time.Duration {
	switch {
	case seconds == nil:
		return DefaultTimeout
	case *seconds >= MaxTimeout.Seconds():
		return MaxTimeout
	case *seconds > 0: // false for NaN
		return time.Duration(math.Round(*seconds*1000)) * time.Millisecond
	}
	return 0
}
