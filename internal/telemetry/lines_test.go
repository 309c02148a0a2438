package telemetry_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/hookrouter/hookrouter/internal/telemetry"
)

// What an agent sends can't reach the terminal on which somebody reads the log.
func TestLogLinesHoldNothingUnseen(t *testing.T) {
	t.Parallel()
	const text = "é 世界 🙂 \x1b[2J \u009b2J \x7f \u202e \u2066 \u200b \u00a0 \U000e0041 \ufffd"
	var out bytes.Buffer
	slog.New(telemetry.LogLines(&out, slog.LevelInfo)).Info(text, "session_id", text)
	line := strings.TrimSuffix(out.String(), "\n")
	if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) || !strings.Contains(line, "é 世界 🙂") {
		t.Errorf("logged %q", line)
	}
	var got struct {
		Msg     string `json:"msg"`
		Session string `json:"session_id"`
	}
	if err := json.Unmarshal([]byte(line), &got); err != nil || got.Msg != text || got.Session != text {
		t.Errorf("%q, %v", got, err)
	}
}

// A duration has its unit, wherever it stands in a line, and no digits that say nothing.
func TestLogLinesHoldDurationsWithTheirUnit(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0s", 15: "15ns", 999999: "1ms", 2482440: "2.48ms", 123456789: "123ms", 1234567890: "1.235s", 5 * time.Minute: "5m0s", -2482440: "-2.48ms",
	} {
		var out bytes.Buffer
		slog.New(telemetry.LogLines(&out, slog.LevelInfo)).With("took", d).WithGroup("call").Info("called", "duration", d)
		var got struct {
			Took string
			Call struct{ Duration string }
		}
		if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.Took != want || got.Call.Duration != want {
			t.Errorf("%d ns: %s, %v; want %s", d, &out, err, want)
		}
	}
}
