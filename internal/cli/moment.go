package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli/term"
)

// Period is the set of flags for the start of a period. Without them it starts at the beginning.
type Period struct {
	Since string `xor:"since" placeholder:"TIME" help:"Only since this time: 2h, 7d, 2026-03-01, or an RFC 3339 time."`
	Last  string `xor:"since" placeholder:"DURATION" help:"Only of the last time until now: 15m, 2h, 7d."`
}

// From parses the flags. It returns the zero time if none was given.
func (p Period) From(now time.Time) (time.Time, error) {
	if p.Last == "" {
		return Moment("--since", p.Since, now)
	}
	last, ok := ParseDuration(p.Last)
	if !ok {
		return time.Time{}, fmt.Errorf("read --last %q: a duration is needed, such as 15m, 2h or 7d", term.Clip(p.Last, term.MaxValue))
	}
	return now.Add(-last), nil
}

// ParseDuration parses a duration of at least zero. It accepts the units of Go, and d for days of 24
// hours.
func ParseDuration(text string) (d time.Duration, ok bool) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 1e5 {
			return time.Duration(n) * 24 * time.Hour, true
		}
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d >= 0
}

// Moment parses a time given as a duration ago, a day, or RFC 3339. It returns the zero time for
// "".
func Moment(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, ok := ParseDuration(strings.TrimSpace(strings.TrimSuffix(text, "ago"))); ok {
		return now.Add(-d), nil
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		return t, nil
	}
	return time.Time{}, fmt.Errorf("read %s %q: a time is needed, such as 2h or 7d for how long ago, 2026-03-01, or 2026-03-01T12:00:00Z", flag, term.Clip(text, term.MaxValue))
}
