package telemetry

import (
	"io"
	"log/slog"
	"os"

	"github.com/charmbracelet/x/term"
)

// LogLines is how all programs write their log lines: as text on a terminal, for the one who
// sits there, and as JSON into anything else.
func LogLines(w io.Writer, level slog.Leveler) slog.Handler {
	o := &slog.HandlerOptions{Level: level}
	if f, ok := w.(*os.File); ok && term.IsTerminal(f.Fd()) {
		return slog.NewTextHandler(w, o)
	}
	return slog.NewJSONHandler(w, o)
}
