package telemetry

import (
	"log/slog"
	"os"
	"sync"
)

// ToggleLevel changes the level of a log with each signal: to debug, and back to what
// it was. A level that was debug goes to info. stop ends that and waits for it.
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
			log.Warn("log level changed by a signal", "level", level.Level(), "signal", by)
		}
	})
	return func() { close(done); wg.Wait() }
}
