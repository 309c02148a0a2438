// Command install installs coding agents into the user's cache for the tests of test/agents:
//
//	go run ./test/agents/install claude-code,codex
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/hookrouter/hookrouter/test/agents"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "install:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) != 1 {
		return fmt.Errorf("name the agents, separated by commas, or all")
	}
	chosen, err := agents.Select(args[0])
	if err != nil {
		return err
	}
	for _, a := range chosen {
		began := time.Now()
		dir, err := agents.Install(ctx, a)
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s %s: %s, after %.0f s\n", a.Name, a.Version, dir, time.Since(began).Seconds())
	}
	return nil
}
