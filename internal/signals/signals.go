package signals

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/charmbracelet/x/term"
)

// Signals are what a running program reacts to. The zero Signals never come.
type Signals struct {
	Reload <-chan os.Signal // read the files again
	Level  <-chan os.Signal // toggle the level of the log
}

// Notify begins to listen for signals. The context ends with the first signal that ends the
// program. stop stops listening and waits for that.
func Notify(ctx context.Context, stdin *os.File) (_ context.Context, s Signals, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	end := []os.Signal{os.Interrupt, syscall.SIGTERM}
	reload, level := make(chan os.Signal, 1), make(chan os.Signal, 1)
	switch {
	case !term.IsTerminal(stdin.Fd()):
		signal.Notify(reload, syscall.SIGHUP)
	case !signal.Ignored(syscall.SIGHUP): // else nohup asks to survive the terminal
		end = append(end, syscall.SIGHUP)
	}
	if len(levelSignals) > 0 { // none would mean all
		signal.Notify(level, levelSignals...)
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, end...)
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case <-ended:
			signal.Reset(end...) // first: the next one ends the process
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
