package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli/term"
)

// Moment reads a time: how long ago, a day, or RFC 3339; zero for "".
func Moment(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	ago := strings.TrimSpace(strings.TrimSuffix(text, "ago"))
	if days, ok := strings.CutSuffix(ago, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 1e5 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(ago); err == nil && d >= 0 {
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
