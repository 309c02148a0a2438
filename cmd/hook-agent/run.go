package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/agenthook/supervisor"
	"github.com/hookrouter/hookrouter/internal/natscontext"
	"github.com/hookrouter/hookrouter/internal/version"
)

const usage = `Usage: hook-agent [flags] AGENT [EVENT]
       hook-agent mcp-proxy --help

Answers a hook of a coding agent with what the hook router says.

AGENT is one of:
%s
EVENT is the agent's name of the event, where its message does not say it.

hook-agent mcp-proxy stands before an MCP server, for agents without hooks.

`

// run runs the program and returns its exit code. failure is the reason why package first has no
// answer; nil if it did not try. An invalid command line blocks too.
func run(ctx context.Context, args []string, failure *supervisor.Failure, stdin io.Reader, stdout, stderr io.Writer) int {
	h := agenthook.Hook{Notes: stderr}
	isChild := args[0] == supervisor.ChildName
	if isChild {
		if len(args) < 2 {
			return 1
		}
		h.Options.EventID, h.Options.Spent = supervisor.ReadRest(args[1])
		args = args[1:]
	}
	err := parse(&h, args[1:], stdout)
	switch {
	case err != nil && isChild:
		return 1 // the first process reports the error
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "hook-agent:", err)
		return agenthook.CodeBlock
	case isChild && h.Serve(ctx, stdin, stdout) != nil:
		return 1
	case isChild:
		return 0
	}
	var out agenthook.Output
	if failure != nil {
		out = h.Refuse(failure.Document, fmt.Errorf("hook-agent could not ask: %w", failure.Cause))
	} else {
		out = h.Run(ctx, stdin)
	}
	if out.Stderr != "" {
		fmt.Fprintln(stderr, out.Stderr)
	}
	if _, err := stdout.Write(out.Stdout); err != nil {
		fmt.Fprintln(stderr, "hook-agent: the answer can't be written:", err)
		return agenthook.CodeBlock
	}
	return out.Code
}

// parse parses the command line. After --help and --version, it returns flag.ErrHelp.
func parse(h *agenthook.Hook, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("hook-agent", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	unreachable := routerFlags(flags, &h.Options, "`time` to answer in, shorter than the agent's own; default: nine tenths of what the agent allows")
	scope := flags.String("scope", "", "`whose` settings run this hook: user, project or managed; default: user. Only in those of the machine (managed) sub-agents of Codex are not denied")
	flags.Bool("supervise", true, "answer from a first process where the second one dies, the default; --supervise=false: one process") // package first reads this flag
	showVersion := flags.Bool("version", false, "print the version")
	var operands []string
	err := flags.Parse(args)
	for err == nil && flags.NArg() > 0 { // flags may follow operands
		operands = append(operands, flags.Arg(0))
		err = flags.Parse(flags.Args()[1:])
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(stdout, usage, names())
		showFlags(stdout, flags)
		return err
	case err != nil:
		return fmt.Errorf("%w (see hook-agent --help)", err)
	case *showVersion:
		fmt.Fprintln(stdout, version.Build())
		return flag.ErrHelp
	case len(operands) < 1 || len(operands) > 2:
		return errors.New("name the agent, and the event where its message does not say it (see hook-agent --help)")
	}
	if err := complete(&h.Options, unreachable); err != nil {
		return err
	}
	if !slices.Contains([]string{"", "user", "project", "managed"}, *scope) {
		return fmt.Errorf("--scope is user, project or managed, not %q", *scope)
	}
	h.Options.Managed = *scope == "managed"
	known := false
	if h.Dialect, known = agenthook.Find(operands[0]); !known {
		return fmt.Errorf("there is no agent %q here; there are:\n%s", operands[0], names())
	}
	if len(operands) > 1 {
		h.Native = operands[1]
	}
	return nil
}

// names lists the supported agents, one per line.
func names() string {
	var b strings.Builder
	for _, d := range agenthook.Dialects() {
		fmt.Fprintf(&b, "  %-12s %s\n", d.Name, d.Agent)
	}
	return b.String()
}

// routerFlags defines the flags for asking the router.
func routerFlags(flags *flag.FlagSet, o *agenthook.Options, timeout string) (unreachable *string) {
	flags.StringVar(&o.Server, "server", "", "NATS `servers`, comma-separated; default: $NATS_URL, else nats://127.0.0.1:4222")
	flags.StringVar(&o.Creds, "creds", "", "NATS credentials `file`; default: $NATS_CREDS")
	flags.StringVar(&o.Prefix, "prefix", "", "first `token` of the router's subjects; default: $HOOK_ROUTER_PREFIX, else hooks")
	flags.DurationVar(&o.Timeout, "timeout", 0, timeout)
	flags.DurationVar(&o.Patience, "patience", 0, "`time` to try again where the router can't be reached; default: 2s")
	return flags.String("on-unreachable", "", "`action` where no router can be asked: block or allow; default: $HOOK_AGENT_ON_UNREACHABLE, else block")
}

// complete checks the options and completes them from the environment.
func complete(o *agenthook.Options, unreachable *string) error {
	if o.Server == "" {
		environment(o, unreachable)
	} else {
		o.Home = natscontext.OwnHome()
	}
	if !slices.Contains([]string{"", "block", "allow"}, *unreachable) {
		return fmt.Errorf("--on-unreachable is block or allow, not %q", *unreachable)
	}
	o.Allow = *unreachable == "allow"
	o.StateDir = supervisor.StateDir(os.Getenv)
	o.Getenv = os.Getenv
	return nil
}

// variables are the variables that environment reads, in this order.
var variables = []string{"NATS_URL", "NATS_CREDS", "HOOK_ROUTER_PREFIX", "HOOK_AGENT_ON_UNREACHABLE"}

// environment sets the options that have no flag from environment variables. It is not called if a
// flag names the server, since the settings of the agent's project may set variables.
func environment(o *agenthook.Options, unreachable *string) {
	for i, to := range []*string{&o.Server, &o.Creds, &o.Prefix, unreachable} {
		if *to == "" {
			*to = os.Getenv(variables[i])
		}
	}
}
