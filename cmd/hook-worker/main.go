// Command hook-worker serves the hooks that a YAML file describes: rules in
// CEL and commands of any language.
//
//	hook-worker --config worker.yaml
//	hook-worker --config worker.yaml --dry-run
//	hook-worker validate worker.yaml
//	hook-worker test worker.yaml
//	hook-worker schema
//
// While it runs it reads the file again when it changes, and on SIGHUP. SIGUSR1
// toggles the level of the log. SIGTERM and SIGINT end it when the calls under way are
// answered, a second one ends it at once; so does SIGHUP if standard input is a terminal.
//
// It exits with 0 when it was stopped, 1 when it could not do its work (no
// NATS, no router, a registration that was refused), and 2 when the command line
// or the file is wrong. validate and test exit with 1 for whatever is wrong with a file or
// its tests, and 2 when the command line is.
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

// failedError is what validate and test found wrong.
type failedError struct{ error }

// failed hides whether an error is about a file: validate and test have one exit code.
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
