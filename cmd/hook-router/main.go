// Command hook-router routes the lifecycle events of AI agents through hooks.
//
// Without flags it starts a NATS server with JetStream on loopback and the router
// on it. See docs/operator.md for every flag, and `hook-router demo` for a tour.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	os.Exit(exit())
}

// exit runs the program until it is done or told to stop, and returns its code.
func exit() int {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	told := make(chan os.Signal, 1)
	signal.Notify(told, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-told
		signal.Reset(os.Interrupt, syscall.SIGTERM) // first: the next one ends the process
		stop()
	}()
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr, hangup); err != nil {
		fmt.Fprintln(os.Stderr, "hook-router:", err)
		return 1
	}
	return 0
}
