// Package checkout has helpers for tools that work on the checkout they run in.
package checkout

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
)

// Main is the main function of a tool: it calls run with a context that SIGINT and SIGTERM cancel.
// If run fails, it prints the error after the tool's name and exits with status 1.
func Main(name string, run func(context.Context) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// Root returns the top directory of the checkout that contains the working directory.
func Root(ctx context.Context) (string, error) {
	top, err := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return "", fmt.Errorf("find the checkout: %w", err)
	}
	return strings.TrimSpace(string(top)), nil
}
