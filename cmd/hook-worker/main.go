// Command hook-worker answers for the hooks that a YAML file describes: rules in
// CEL and commands of any language.
//
//	hook-worker --config worker.yaml
//	hook-worker --config worker.yaml --dry-run
//	hook-worker validate worker.yaml
//	hook-worker test worker.yaml
//	hook-worker schema
//
// While it runs it reads the file again when it changes, and on SIGHUP. SIGUSR1
// changes the level of the log. SIGTERM and SIGINT tell it to end when the calls under
// way are answered, a second one to end at once.
//
// It exits with 0 when it was told to end, 1 when it could not do its work (no
// NATS, no router, a registration that was refused, a test that failed), and 2 when the command line
// or the file is wrong.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, end := context.WithCancel(context.Background())
	told := signals(os.Interrupt, syscall.SIGTERM)
	go func() {
		<-told
		signal.Reset(os.Interrupt, syscall.SIGTERM) // first: the next one ends the process
		end()
	}()
	err := run(ctx, os.Args[1:], process{
		stdout: os.Stdout, stderr: os.Stderr, terminal: isTerminal(os.Stdout),
		hangup: signals(syscall.SIGHUP), user1: signals(levelSignals...),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "hook-worker:", err)
		os.Exit(exitCode(err))
	}
}

func signals(of ...os.Signal) <-chan os.Signal {
	ch := make(chan os.Signal, 1)
	if len(of) > 0 { // none would mean every signal
		signal.Notify(ch, of...)
	}
	return ch
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func exitCode(err error) int {
	if _, input := errors.AsType[inputError](err); input {
		return 2
	}
	return 1
}
