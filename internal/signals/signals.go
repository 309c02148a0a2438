package signals

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/charmbracelet/x/term"
)

// Signals are the signals that a running program handles. The zero Signals never arrive.
type Signals struct {
	Reload <-chan os.Signal // read the files again
	Level  <-chan os.Signal // toggle the log level
}

// Notify starts to listen for signals. The returned context ends with the first signal that ends
// the program. stop stops listening and waits for the goroutine.
func Notify(ctx context.Context, stdin *os.File) (_ context.Context, s Signals, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	end := []os.Signal{os.Interrupt, syscall.SIGTERM}
	reload, level := make(chan os.Signal, 1), make(chan os.Signal, 1)
	switch {
	case !term.IsTerminal(stdin.Fd()):
		signal.Notify(reload, syscall.SIGHUP)
	case !signal.Ignored(syscall.SIGHUP): // nohup ignores it, to survive the terminal
		end = append(end, syscall.SIGHUP)
	}
	if len(levelSignals) > 0 { // an empty list would mean all signals
		signal.Notify(level, levelSignals...)
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, end...)
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case <-ended:
			signal.Reset(end...) // before cancel, so that the next signal ends the process
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, Signals{reload, level}, func() {
		cancel()
		wg.Wait()
		for _, ch := range []chan os.Signal{ended, reload, level} {
			signal.Stop(ch)
		}
	}
}
