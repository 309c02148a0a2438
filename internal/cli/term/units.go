package term

import (
	"fmt"
	"os"
	"time"
)

// Span formats a duration: 42s, 4m10s, 3h5m, 2d4h.
func Span(d time.Duration) string {
	const day = 24 * time.Hour
	switch d = max(d, 0).Truncate(time.Second); {
	case d >= day:
		return fmt.Sprintf("%dd%dh", d/day, d%day/time.Hour)
	case d >= time.Hour:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%dm%ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%ds", d/time.Second)
}

// Waited formats the time that a request waited for an answer: 1.8s, 4m10s.
func Waited(d time.Duration) string {
	if d < time.Minute {
		return max(d, 0).Round(100 * time.Millisecond).String()
	}
	return Span(d)
}

// Clock returns the time of day for the beginning of a live line.
func (p *Printer) Clock() string { return p.Paint(Dim, time.Now().Format("15:04:05.000")) }

// Micros formats a number of microseconds as milliseconds.
func Micros(us int64) string { return fmt.Sprintf("%.1fms", float64(us)/1000) }

// OrDash returns text, or a dash if text is empty.
func OrDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// Plural formats a count of things: 1 hook, 2 hooks.
func Plural(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// Size formats a number of bytes.
func Size(n float64) string {
	for _, unit := range [...]string{"B", "KB", "MB", "GB"} {
		if n < 1000 {
			return fmt.Sprintf("%.3g %s", n, unit)
		}
		n /= 1000
	}
	return fmt.Sprintf("%.0f TB", n)
}

// MaxValue is how many characters of a value are shown.
const MaxValue = 100

// IsTerminal reports whether a file is a terminal.
func IsTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
