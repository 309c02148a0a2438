package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/hookrouter/hookrouter/internal/version"
)

// process is what a command sees of the process it runs in. What happens to the
// connection is written to stderr beside the command, so stderr is safe for concurrent
// use, as that of a process is.
type process struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	terminal       bool // whether stdout is one
}

// cli is the command line.
type cli struct {
	Emit          emitCmd          `cmd:"" help:"Run the hooks of an event and show what they decided."`
	Execute       executeCmd       `cmd:"" help:"Run the hooks of an event, have people asked, and show the verdict."`
	Collect       collectCmd       `cmd:"" help:"Ask all hooks of an event at the same time and show the data they give."`
	Contributions contributionsCmd `cmd:"" help:"Ask all contributors of a channel and show what they give."`
	Handlers      handlersCmd      `cmd:"" help:"List hook names by the pattern they registered."`
	Registry      registryCmd      `cmd:"" help:"List every registration in full."`
	Explain       explainCmd       `cmd:"" help:"Show which hooks would run for an event, in order; calls none."`
	Watch         watchCmd         `cmd:"" help:"Show events and their results as they happen, until interrupted."`
	Events        eventsCmd        `cmd:"" help:"Show the standard events, or the schema of one; needs no NATS."`
	Approvals     approvalsCmd     `cmd:"" help:"Answer the questions of hooks."`
	Audit         auditCmd         `cmd:"" help:"Read, export and prove the audit log."`
	Trace         traceCmd         `cmd:"" help:"Show a chain as a waterfall: what took how long, from Jaeger or from the audit log."`
	Coverage      coverageCmd      `cmd:"" help:"List agents by the events they emitted, those that never asked before a tool first."`
	Session       sessionCmd       `cmd:"" help:"Show what the routers remember of a session, and change it."`
	Hook          hookCmd          `cmd:"" help:"Serve a hook of one line, or remove a hook."`
	Test          testCmd          `cmd:"" help:"Run the tests of worker files, or events through one, and show what hooks decide; needs no NATS."`
	Validate      validateCmd      `cmd:"" help:"Call a live hook with usual and odd data, and check that it keeps the contract."`

	connection `embed:"" group:"Connection"`

	JSON    bool             `name:"json" xor:"form" help:"JSON output; the default where the output is no terminal."`
	Text    bool             `name:"text" xor:"form" help:"Output for people, wherever it goes."`
	Version kong.VersionFlag `help:"Print the version."`
}

// env is what commands run in.
type env struct {
	process
	*connection
	out    *printer
	cancel context.CancelCauseFunc // ends the command with a reason
	status func(text string)       // is told of the connection; nil where stderr is. Set before connect
	exit   int                     // what the process ends with where there is no error
}

// run is the program without the process around it. It returns the exit code.
func run(ctx context.Context, args []string, p process) int {
	var c cli
	exited := false
	parser, err := kong.New(&c,
		kong.Name("hookctl"),
		kong.Description("Emit events through hooks, answer their questions, look at them, watch, and serve hooks of one line."),
		kong.Vars{"version": version.String()},
		kong.Writers(p.stdout, p.stderr),
		kong.Exit(func(int) { exited = true }),
		kong.Resolvers(environment(p.getenv)),
		kong.ValueFormatter(withVariables),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Help(helpWithExitCodes),
		kong.BindTo(ctx, (*context.Context)(nil)),
	)
	if err != nil {
		return complain(p.stderr, err)
	}
	command, err := parser.Parse(args)
	if exited { // --help or --version
		return exitOK
	}
	if err != nil {
		return complain(p.stderr, fmt.Errorf("%w (see hookctl --help)", err))
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	command.BindTo(ctx, (*context.Context)(nil))
	e := &env{process: p, connection: &c.connection, out: newPrinter(p, c), cancel: cancel}
	if err := command.Run(e); err != nil {
		return complain(p.stderr, reason(ctx, err))
	}
	if err := reason(ctx, e.out.failure()); err != nil {
		return complain(p.stderr, err)
	}
	return e.exit
}

func complain(stderr io.Writer, err error) int {
	fmt.Fprintf(stderr, "hookctl: %s\n", clean(err.Error()))
	return exitOf(err)
}

// variables are the environment variables of a flag, in the order in which they
// are looked at: the tag from.
func variables(tag *kong.Tag) []string {
	if tag == nil || !tag.Has("from") {
		return nil
	}
	return strings.Split(tag.Get("from"), ",")
}

// environment reads flags that were not given from their variables.
func environment(getenv func(string) string) kong.Resolver {
	return kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		for _, name := range variables(flag.Tag) {
			if value := getenv(name); value != "" {
				return value, nil
			}
		}
		return nil, nil
	})
}

// withVariables adds a flag's variables to its help.
func withVariables(v *kong.Value) string {
	help := kong.DefaultHelpValueFormatter(v)
	if names := variables(v.Tag); len(names) > 0 {
		help += " ($" + strings.Join(names, ", $") + ")"
	}
	return help
}
