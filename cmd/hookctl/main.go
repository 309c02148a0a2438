// Command hookctl is the command line of people and coding agents on the bus: it
// emits events, answers the approval requests of hooks, shows which hooks there are and
// what they do, watches, and serves hooks of one line. See docs/hookctl.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/cli/term"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := hookctl.Run(ctx, os.Args[1:], cli.Process{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Terminal: term.IsTerminal(os.Stdout),
	})
	stop()
	os.Exit(code)
}
