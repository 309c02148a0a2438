// Command hookctl is the command line for people and coding agents: it emits events, answers
// approval requests of hooks, shows registered hooks and what they do, watches events, and serves
// one-line hooks. See docs/hookctl.md.
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
	context.AfterFunc(ctx, stop) // a second signal ends the process immediately
	code := hookctl.Run(ctx, os.Args[1:], cli.Process{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Terminal: term.IsTerminal(os.Stdout),
	})
	stop()
	os.Exit(code)
}
