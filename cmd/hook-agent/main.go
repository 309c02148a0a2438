// Command hook-agent is the hook program that a coding agent calls: it asks the hook router and
// answers in the agent's format.
//
//	hook-agent claude-code
//	hook-agent copilot preToolUse
//	hook-agent mcp-proxy -- npx -y @modelcontextprotocol/server-memory
//
// It reads the agent's JSON on standard input. If no router answers, it blocks the agent's
// operation. As mcp-proxy, it runs in front of an MCP server instead. See docs/agents.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/hookrouter/hookrouter/cmd/hook-agent/first"
	"github.com/hookrouter/hookrouter/internal/agenthook/supervisor"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	if len(os.Args) > 1 && os.Args[1] == supervisor.RelayName {
		code := serveMCP(ctx, os.Args[2:], os.Stdin, os.Stdout, os.Stderr)
		stop()
		os.Exit(code)
	}
	code := run(ctx, os.Args, first.Failure, os.Stdin, supervisor.Output{File: os.Stdout}, os.Stderr)
	stop()
	os.Exit(code)
}
