// Command hook-worker answers for the hooks that a YAML file describes: rules in
// CEL and commands of any language.
//
//	hook-worker --config worker.yaml
//	hook-worker validate worker.yaml
//
// It exits with 0 when it was told to end, 1 when it could not do its work (no
// NATS, no router, a registration that was refused), and 2 when the command line
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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr, hangup)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "hook-worker:", err)
		os.Exit(exitCode(err))
	}
}

func exitCode(err error) int {
	if _, input := errors.AsType[inputError](err); input {
		return 2
	}
	return 1
}
