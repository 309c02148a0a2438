package hookctl

import (
	"context"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/approvals"
	"github.com/hookrouter/hookrouter/internal/cli/audit"
	"github.com/hookrouter/hookrouter/internal/cli/event"
	"github.com/hookrouter/hookrouter/internal/cli/hook"
	"github.com/hookrouter/hookrouter/internal/cli/policy"
	"github.com/hookrouter/hookrouter/internal/cli/session"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/cli/trace"
	"github.com/hookrouter/hookrouter/internal/completion"
	"github.com/hookrouter/hookrouter/internal/version"
)

// commands is the command line.
type commands struct {
	Emit          event.EmitCmd          `cmd:"" help:"Run the hooks of an event and show what they decided."`
	Execute       event.ExecuteCmd       `cmd:"" help:"Run the hooks of an event, have people asked, and show the verdict."`
	Collect       event.CollectCmd       `cmd:"" help:"Ask all hooks of an event at the same time and show the data they give."`
	Contributions event.ContributionsCmd `cmd:"" help:"Ask all contributors of a channel and show what they give."`
	Handlers      hook.HandlersCmd       `cmd:"" help:"List hook names by the pattern they registered."`
	Registry      hook.RegistryCmd       `cmd:"" help:"List every registration in full."`
	Explain       event.ExplainCmd       `cmd:"" help:"Show which hooks would run for an event, in order; calls none."`
	Watch         event.WatchCmd         `cmd:"" help:"Show events and their results as they happen, until interrupted."`
	Events        event.CatalogCmd       `cmd:"" help:"Show the standard events, or the schema of one; needs no NATS."`
	Approvals     approvals.Cmd          `cmd:"" help:"Answer the approval requests of hooks."`
	Audit         auditCmd               `cmd:"" help:"Read, export and prove the audit log."`
	Trace         trace.Cmd              `cmd:"" help:"Show a chain as a waterfall: what took how long, from Jaeger or from the audit log."`
	Coverage      audit.CoverageCmd      `cmd:"" help:"List agents by the events they emitted, those that never asked before a tool first."`
	Session       session.Cmd            `cmd:"" help:"Show what the routers remember of a session, and change it."`
	Hook          hook.Cmd               `cmd:"" help:"Serve a hook of one line, or remove a hook."`
	Test          policy.TestCmd         `cmd:"" help:"Run the tests of worker files, or events through one, and show what hooks decide; needs no NATS."`
	Validate      hook.ValidateCmd       `cmd:"" help:"Call a live hook with usual and odd data, and check that it keeps the contract."`
	Completion    completion.Command     `cmd:"" help:"Print a completion script for a shell."`

	cli.Connection `embed:"" group:"Connection"`

	JSON    bool             `name:"json" xor:"form" help:"JSON output; the default where the output is no terminal."`
	Text    bool             `name:"text" xor:"form" help:"Output for people, wherever it goes."`
	Version kong.VersionFlag `help:"Print the version."`
}

// Run is the program without the process around it. It returns the exit code.
func Run(ctx context.Context, args []string, p cli.Process) int {
	var c commands
	exited := false
	parser, err := kong.New(&c,
		kong.Name("hookctl"),
		kong.Description("Emit events through hooks, answer their approval requests, look at them, watch, and serve hooks of one line."),
		kong.Vars{"version": version.String()},
		kong.Writers(p.Stdout, p.Stderr),
		kong.Exit(func(int) { exited = true }),
		kong.Resolvers(environment(p.Getenv)),
		kong.ValueFormatter(withVariables),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Help(cli.HelpWithExitCodes),
		kong.BindTo(ctx, (*context.Context)(nil)),
	)
	if err != nil {
		return cli.Complain(p.Stderr, err)
	}
	command, err := parser.Parse(args)
	if exited { // --help or --version
		return cli.ExitOK
	}
	if err != nil {
		return cli.Complain(p.Stderr, fmt.Errorf("%w (see hookctl --help)", err))
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	command.BindTo(ctx, (*context.Context)(nil))
	e := &cli.Env{Process: p, Connection: &c.Connection, Out: term.NewPrinter(p.Stdout, c.JSON || !p.Terminal && !c.Text, p.Terminal, p.Colored()), Cancel: cancel}
	defer e.Close()
	if err := command.Run(e); err != nil {
		return cli.Complain(p.Stderr, cli.Reason(ctx, err))
	}
	if err := cli.Reason(ctx, e.Out.Failure()); err != nil {
		return cli.Complain(p.Stderr, err)
	}
	return e.Exit
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
