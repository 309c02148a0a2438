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

// LogLines is how all programs write their log lines: as text on a terminal, for the one who
// sits there, and as JSON into anything else.
func LogLines(w io.Writer, level slog.Leveler) slog.Handler {
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: readable}
	if OnTerminal(w) {
		return slog.NewTextHandler(w, o)
	}
	return slog.NewJSONHandler(visible{w}, o)
}

// OnTerminal reports whether log lines that go to w are read on a terminal.
func OnTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}

// readable writes durations with their unit, such as 2.48ms: as a number they would be
// nanoseconds.
func readable(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(rounded(a.Value.Duration()).String())
	}
	return a
}

// rounded is a duration to the millisecond, and below a second to three digits.
func rounded(d time.Duration) time.Duration {
	unit := time.Millisecond
	for unit > 1 && d.Abs() < 100*unit {
		unit /= 10
	}
	return d.Round(unit)
}

// visible writes lines of JSON with escapes for what a terminal that shows the log would obey
// or not show: C1 controls, bidirectional controls, characters without a width. Such a
// character can be in a string only.
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
