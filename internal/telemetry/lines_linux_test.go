package telemetry_test

import (
	"log/slog"
	"os"
	"syscall"
	"testing"

	"github.com/hookrouter/hookrouter/internal/telemetry"
)

// Whoever sits at a terminal reads log lines as text.
func TestLogLinesAreTextOnATerminal(t *testing.T) {
	t.Parallel()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = terminal.Close() })
	lines := telemetry.LogLines(terminal, slog.LevelInfo)
	if _, text := lines.(*slog.TextHandler); !text {
		t.Errorf("log lines on a terminal are written by %T", lines)
	}
}
