package telemetry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel"

	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/telemetry/otlp"
)

func TestCoverageForgetsWhoIsGoneAndHasABound(t *testing.T) {
	c := telemetry.NewCoverage()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i := range 3000 {
		c.Saw(fmt.Sprint("agent", i), false, now)
	}
	if seen, ungated := c.Count(now); seen != 1000 || ungated != 1000 {
		t.Errorf("%d agents are seen, %d of them ungated; want 1000 of both", seen, ungated)
	}
	c.Saw("agent0", true, now)
	if _, ungated := c.Count(now); ungated != 999 {
		t.Errorf("%d agents are ungated", ungated)
	}
	now = now.Add(25 * time.Hour)
	c.Saw("new", true, now)
	if seen, ungated := c.Count(now); seen != 1 || ungated != 0 {
		t.Errorf("a day later %d agents are seen, %d of them ungated", seen, ungated)
	}
	c.Saw("new", false, now.Add(23*time.Hour))
	if _, ungated := c.Count(now.Add(25 * time.Hour)); ungated != 1 {
		t.Error("an agent that asked a day ago, and not since, counts as gated")
	}
}

// An agent invents names, all of them gated, to hide those who are not.
func TestCoverageShowsTheUngatedAmongInventedNames(t *testing.T) {
	c := telemetry.NewCoverage()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	c.Saw("early", false, now)
	invent := func(from string) {
		for i := range 3000 {
			c.Saw(fmt.Sprint(from, i), true, now)
		}
	}
	invent("a")
	c.Saw("late", false, now)
	invent("b")
	if seen, ungated := c.Count(now); seen != 1000 || ungated != 2 {
		t.Errorf("%d agents are seen, %d of them ungated; want 1000 and 2", seen, ungated)
	}
}

// What fails all the time is said once a minute, with the number of times it was not.
func TestExportErrorsAreLoggedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		shown, err := telemetry.Start(t.Context(), telemetry.Options{Exporters: otlp.Exporters(), Log: slog.New(slog.NewTextHandler(&said, nil))})
		if err != nil {
			t.Fatal(err)
		}
		for range 150 {
			otel.Handle(errors.New("the collector is gone"))
			<-time.After(time.Second)
		}
		if n := strings.Count(said.String(), "\n"); n != 3 {
			t.Errorf("%d lines in 150 s:\n%s", n, &said)
		}
		if !strings.Contains(said.String(), "not_said=59") || !strings.Contains(said.String(), "the collector is gone") {
			t.Errorf("the log says %s", &said)
		}
		if err := shown.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestASignalChangesTheLevelAndTheNextChangesItBack(t *testing.T) {
	for start, want := range map[slog.Level][2]slog.Level{
		slog.LevelInfo:  {slog.LevelDebug, slog.LevelInfo},
		slog.LevelError: {slog.LevelDebug, slog.LevelError},
		slog.LevelDebug: {slog.LevelInfo, slog.LevelDebug},
	} {
		synctest.Test(t, func(t *testing.T) {
			var level slog.LevelVar
			level.Set(start)
			signals := make(chan os.Signal)
			stop := telemetry.ToggleLevel(&level, signals, slog.New(slog.DiscardHandler))
			defer stop()
			for _, next := range want {
				signals <- syscall.SIGHUP
				synctest.Wait()
				if level.Level() != next {
					t.Errorf("from %v: the level is %v, want %v", start, level.Level(), next)
				}
			}
		})
	}
}

// Log lines go on to standard error whatever the collector does, and both follow the
// level.
func TestLogLinesGoToTheCollectorToo(t *testing.T) {
	t.Setenv("OTEL_LOGS_EXPORTER", "otlp")
	t.Setenv("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "http://127.0.0.1:1/v1/logs")
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "100")
	shown, err := telemetry.Start(t.Context(), telemetry.Options{Exporters: otlp.Exporters()})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	level := &slog.LevelVar{}
	first := slog.NewTextHandler(&text, &slog.HandlerOptions{Level: level})
	handler := shown.LogTo(first, level)
	if handler == slog.Handler(first) {
		t.Error("lines do not go to the collector")
	}
	log := slog.New(handler).With("a", 1)
	log.Info("said")
	log.Debug("unsaid")
	level.Set(slog.LevelDebug)
	log.WithGroup("g").Debug("whispered", "b", 2)
	if s := text.String(); !strings.Contains(s, "msg=said a=1") || strings.Contains(s, "unsaid") || !strings.Contains(s, "g.b=2") {
		t.Errorf("the log is %s", s)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = shown.Stop(ctx) // nobody is there
}

func TestLogLinesAreJSONWhereNobodyReadsThem(t *testing.T) {
	var text bytes.Buffer
	slog.New(telemetry.LogLines(&text, slog.LevelInfo)).Info("said", "a", 1)
	if !strings.HasPrefix(text.String(), `{"time":`) || !strings.Contains(text.String(), `"msg":"said","a":1}`) {
		t.Errorf("the log is %s", &text)
	}
}
