package telemetry

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/charmbracelet/x/term"
)

// LogLines is how all programs write their log lines: as text on a terminal, for the one who
// sits there, and as JSON into anything else.
func LogLines(w io.Writer, level slog.Leveler) slog.Handler {
	o := &slog.HandlerOptions{Level: level}
	if f, ok := w.(*os.File); ok && term.IsTerminal(f.Fd()) {
		return slog.NewTextHandler(w, o)
	}
	return slog.NewJSONHandler(visible{w}, o)
}

// visible writes lines of JSON with escapes for what a terminal that shows the log would obey
// or not show: C1 controls, bidirectional controls, characters without a width. Such a
// character can stand in a string only.
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
