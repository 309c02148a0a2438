// Command hook-worker serves the hooks that a YAML file describes, such as CEL rules and commands
// in any language.
//
//	hook-worker --config worker.yaml
//	hook-worker --config worker.yaml --dry-run
//	hook-worker validate worker.yaml
//	hook-worker test worker.yaml
//	hook-worker schema
//
// It reloads the file when it changes, and on SIGHUP. SIGUSR1 toggles the log level. SIGTERM and
// SIGINT end it after it has answered all calls in flight; a second one ends it immediately. If
// standard input is a terminal, SIGHUP has the same effect as SIGTERM.
//
// It exits with 0 when it was stopped, 1 after a failure (no NATS, no router, a refused
// registration), and 2 if the command line or the file is invalid. validate and test exit with 1
// for any error in a file or its tests, and 2 if the command line is invalid.
package main

import (
	"context"
	"os"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/cli/workerfiles"
	"github.com/hookrouter/hookrouter/internal/signals"
)

func main() {
	ctx, sig, stop := signals.Notify(context.Background(), os.Stdin)
	err := run(ctx, os.Args[1:], process{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, signals: sig,
	})
	stop()
	if err != nil {
		term.Say(os.Stderr, "hook-worker: "+err.Error())
		os.Exit(exitCode(err))
	}
}

// failedError is an error that validate or test found.
type failedError struct{ error }

// failed wraps an error so that its exit code is 1, whether it is about a file or not.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return failedError{err}
}

func exitCode(err error) int {
	if workerfiles.IsInput(err) {
		return 2
	}
	return 1
}
