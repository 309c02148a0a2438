package cli

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/version"
)

// connection is the group of the flags of [Connection], and their help topic.
const connection = "connection"

// connectionLine replaces the connection flags in the help of each command.
const connectionLine = `
Connection: --server, --context, --creds and more, or variables as NATS_URL;
            see hookctl help connection
`

// help prints the help of a command, with short lines in place of the connection flags and the exit
// codes.
func help(o kong.HelpOptions, ctx *kong.Context) error {
	defer fold(ctx.Model.Node)()
	var text bytes.Buffer
	out := ctx.Stdout
	ctx.Stdout = &text
	err := kong.DefaultHelpPrinter(o, ctx)
	ctx.Stdout = out
	if err != nil {
		return err
	}
	usage, rest, _ := strings.Cut(text.String(), "\n") // kong wraps every line but this one
	if len(usage) > term.Columns {
		indent := strings.Repeat(" ", len("Usage: "))
		usage = strings.Join(term.Wrap(usage, term.Columns-len(indent)), "\n"+indent)
	}
	_, err = fmt.Fprint(out, usage+"\n"+rest+connectionLine+exitLine(ctx.Selected()))
	return err
}

// fold hides the connection flags until undo is called. Completion still offers them.
func fold(app *kong.Node) (undo func()) {
	var folded []*kong.Flag
	for _, flag := range app.Flags {
		if flag.Group != nil && flag.Group.Key == connection && !flag.Hidden {
			flag.Hidden = true
			folded = append(folded, flag)
		}
	}
	return func() {
		for _, flag := range folded {
			flag.Hidden = false
		}
	}
}

// unfinished returns the context of a parse error for a command line that names only a group of
// commands, or nothing. It returns nil for other errors.
func unfinished(err error) *kong.Context {
	parse, ok := errors.AsType[*kong.ParseError](err)
	if !ok || parse.Context == nil || parse.Context.Error != nil {
		return nil
	}
	node := parse.Context.Selected()
	if node == nil {
		node = parse.Context.Model.Node
	}
	if len(node.Children) == 0 || len(node.Positional) > 0 || node.DefaultCmd != nil {
		return nil
	}
	return parse.Context
}

// HelpCmd is `hookctl help`.
type HelpCmd struct {
	Topic []string `arg:"" optional:"" help:"A command, such as audit query; connection or exit-codes."`
}

// Run prints the help of a command or of the connection, or the exit codes.
func (c *HelpCmd) Run(ctx *kong.Context) error {
	if len(c.Topic) == 1 && c.Topic[0] == connection {
		return connectionHelp(ctx)
	}
	if len(c.Topic) == 1 && c.Topic[0] == exitCodes {
		_, err := fmt.Fprint(ctx.Stdout, ExitCodes)
		return err
	}
	_, err := ctx.Parse(append(c.Topic, "--help"))
	if parse, ok := errors.AsType[*kong.ParseError](err); ok && parse.Context != nil && parse.Context.Error != nil {
		return fmt.Errorf("there is no help of %q: %w; the topics are the commands, %s and %s (see hookctl --help)", strings.Join(c.Topic, " "), parse.Context.Error, connection, exitCodes)
	}
	return nil // the help is printed even if the command lacks arguments
}

// connectionHelp prints the connection flags.
func connectionHelp(ctx *kong.Context) error {
	var flags struct {
		Connection `embed:"" group:"Every command that needs NATS takes them, or the variables in parentheses."`
	}
	parser, err := kong.New(&flags,
		kong.Name("hookctl COMMAND"),
		kong.Description("How commands reach the bus. Without any of these they find the router of this machine, and the credentials that it made."),
		kong.NoDefaultHelp(),
		kong.Writers(ctx.Stdout, ctx.Stderr),
		kong.ValueFormatter(withVariables),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 80}),
	)
	if err != nil {
		return err
	}
	all, err := parser.Parse(nil)
	if err != nil {
		return err
	}
	return all.PrintUsage(false)
}

// VersionCmd is `hookctl version`.
type VersionCmd struct{}

// Run prints the version.
func (c *VersionCmd) Run(e *Env) error {
	if !e.Out.Document(map[string]string{"version": version.Number(), "build": version.Build()}) {
		e.Out.Print("%s\n", version.Build())
	}
	return nil
}
