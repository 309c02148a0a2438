package cli

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/commandline"
	"github.com/hookrouter/hookrouter/internal/version"
)

// flags are the flags that every command has.
type flags struct {
	Connection `embed:"" group:"connection"`

	JSON    bool             `name:"json" xor:"form" help:"JSON output; also with HOOKCTL_FORMAT=json."`
	Text    bool             `name:"text" xor:"form" help:"Text output, the default, whatever HOOKCTL_FORMAT says."`
	Wide    bool             `help:"Tables and lines as wide as they are, instead of folded to the terminal, or to 80 columns."`
	Version kong.VersionFlag `help:"Print the version."`
}

// readers are the commands that read the audit log directly, not through a router.
var readers = []string{"audit", "coverage", "trace", "policy compare", "policy diff", "why", "approvals suggest"}

// Run runs the command that args name, and returns the exit code. commands points to a kong struct
// with a field for each command, named after it. options are additional options for kong.
func Run(ctx context.Context, args []string, p Process, commands any, options ...kong.Option) int {
	var c flags
	exited := false
	parser, err := kong.New(&c, append(options,
		kong.Embed(chosen(commands, args)),
		kong.Name("hookctl"),
		kong.Description("Emit events through hooks, answer their approval requests, look at them, watch, and serve hooks of one line."),
		kong.Vars{"version": version.Build()},
		kong.Writers(p.Stdout, p.Stderr),
		kong.Exit(func(int) { exited = true }),
		kong.Resolvers(environment(p.Getenv)),
		kong.ValueFormatter(withVariables),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, NoExpandSubcommands: true, WrapUpperBound: 80}),
		kong.Help(help),
		kong.BindTo(ctx, (*context.Context)(nil)),
	)...)
	if err != nil {
		return complain(p.Stderr, err)
	}
	command, err := parser.Parse(args)
	if exited { // by --help or --version
		return ExitOK
	}
	if noun := unfinished(err); noun != nil {
		if err := noun.PrintUsage(false); err != nil {
			return complain(p.Stderr, err)
		}
		return ExitLocal
	}
	if err != nil {
		return complain(p.Stderr, fmt.Errorf("%w (see %s --help)", commandline.Readable(err), commandline.Selected(err, "hookctl")))
	}
	json, err := JSON(c.JSON, c.Text, p.Getenv)
	if err != nil {
		return complain(p.Stderr, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	command.BindTo(ctx, (*context.Context)(nil))
	e := &Env{Process: p, Connection: &c.Connection, Out: term.NewPrinter(p.Stdout, json, p.Terminal, p.Colored()), Cancel: cancel}
	if e.Out.Width = term.WidthOf(p.Stdout); c.Wide {
		e.Out.Width = 0
	}
	defer e.Close()
	if slices.ContainsFunc(readers, func(reader string) bool { return strings.HasPrefix(command.Command()+" ", reader+" ") }) {
		e.Role = keeper
	}
	if err := command.Run(e); err != nil {
		return complain(p.Stderr, Reason(ctx, err))
	}
	if err := Reason(ctx, e.Out.Failure()); err != nil {
		return complain(p.Stderr, err)
	}
	return e.Exit
}

// chosen returns only the command that args name, since building all commands takes longer than
// most of them run. It returns all commands if args do not begin with a command, and for commands
// that show other commands, which have the tag tree.
func chosen(commands any, args []string) any {
	for len(args) > 0 && slices.Contains([]string{"--json", "--text", "--wide"}, args[0]) {
		args = args[1:]
	}
	all := reflect.ValueOf(commands).Elem()
	for i := range all.NumField() {
		field := all.Type().Field(i)
		if _, shows := field.Tag.Lookup("tree"); len(args) == 0 || shows || strings.ToLower(field.Name) != args[0] {
			continue
		}
		one := reflect.New(reflect.StructOf([]reflect.StructField{field}))
		one.Elem().Field(0).Set(all.Field(i))
		return one.Interface()
	}
	return commands
}

// variables returns the environment variables of a flag, from its tag "from", in the order in which
// they are tried.
func variables(tag *kong.Tag) []string {
	if tag == nil || !tag.Has("from") {
		return nil
	}
	return strings.Split(tag.Get("from"), ",")
}

// environment resolves flags that were not given from their variables.
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
