package telemetry

import (
	"log/slog"
	"os"
	"sync"
)

// ToggleLevel switches the level of a log with each signal: to debug, and back to the previous
// level, or to info if that was debug. stop ends the switching and waits for the goroutine.
func ToggleLevel(level *slog.LevelVar, signals <-chan os.Signal, log *slog.Logger) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		back := level.Level()
		for {
			var by os.Signal
			select {
			case by = <-signals:
			case <-done:
				return
			}
			switch now := level.Level(); {
			case now > slog.LevelDebug:
				back = now
				level.Set(slog.LevelDebug)
			case back > slog.LevelDebug:
				level.Set(back)
			default:
				level.Set(slog.LevelInfo)
			}
			log.Warn("log level changed by a signal", "to", level.Level(), "signal", by)
		}
	})
	return func() { close(done); wg.Wait() }
}
