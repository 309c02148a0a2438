// Command hook-router routes the lifecycle events of AI agents through hooks.
//
// Without flags it starts a NATS server with JetStream on loopback and the router
// on it. See docs/operator.md for every flag, and `hook-router demo` for a tour.
//
// SIGTERM and an interrupt shut it down gracefully; a second one ends it immediately. SIGHUP
// reloads the rule files, as does a change of one, or ends the router if standard input is a
// terminal. SIGUSR1 toggles the log level.
package main

import (
	"context"
	"os"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/signals"
)

func main() {
	ctx, sig, stop := signals.Notify(context.Background(), os.Stdin)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr, sig)
	stop()
	if err != nil {
		term.Say(os.Stderr, "hook-router: "+err.Error())
		os.Exit(1)
	}
}
