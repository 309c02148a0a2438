// Command hook-agent is what a coding agent calls as its hook: it asks the hook router and
// answers in the agent's own words.
//
//	hook-agent claude-code
//	hook-agent copilot preToolUse
//
// It reads the agent's JSON on standard input. Where no router answers, it blocks what the
// agent is about to do. See docs/agents.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/hookrouter/hookrouter/cmd/hook-agent/first"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args, first.Failure, os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
