package telemetry

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/charmbracelet/x/term"
)

// LogLines returns the handler that all programs use for log lines: text on a terminal, otherwise
// JSON.
func LogLines(w io.Writer, level slog.Leveler) slog.Handler {
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: readable}
	if OnTerminal(w) {
		return slog.NewTextHandler(w, o)
	}
	return slog.NewJSONHandler(visible{w}, o)
}

// OnTerminal reports whether w is a terminal.
func OnTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}

// readable formats durations with their unit, such as 2.48ms, instead of as a number of
// nanoseconds.
func readable(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(rounded(a.Value.Duration()).String())
	}
	return a
}

// rounded rounds a duration to milliseconds, or below a second to three digits.
func rounded(d time.Duration) time.Duration {
	unit := time.Millisecond
	for unit > 1 && d.Abs() < 100*unit {
		unit /= 10
	}
	return d.Round(unit)
}

// visible escapes characters in lines of JSON that a terminal would interpret or not show: C1
// controls, bidirectional controls, zero-width characters. They can only occur in strings.
type visible struct{ w io.Writer }

func (v visible) Write(line []byte) (int, error) {
	if _, err := v.w.Write(escaped(line)); err != nil {
		return 0, err
	}
	return len(line), nil
}

func escaped(line []byte) []byte {
	if !bytes.ContainsFunc(line, unseen) {
		return line
	}
	out := make([]byte, 0, len(line)+32)
	for len(line) > 0 {
		r, size := utf8.DecodeRune(line)
		if unseen(r) {
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
		} else {
			out = append(out, line[:size]...)
		}
		line = line[size:]
	}
	return out
}

func unseen(r rune) bool { return r >= 0x7f && !unicode.IsPrint(r) }
