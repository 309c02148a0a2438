// Package commandline parses the command lines of hook-router and hook-worker.
package commandline

import (
	"errors"
	"fmt"

	"github.com/alecthomas/kong"

	"github.com/hookrouter/hookrouter/internal/version"
)

// Parse parses args into flags, a pointer to a struct with tags of kong. The command is nil
// if --help or --version answered already.
func Parse(flags any, args []string, options ...kong.Option) (*kong.Context, error) {
	exited := false
	parser, err := kong.New(flags, append(options,
		kong.Vars{"version": version.Build()},
		kong.Exit(func(int) { exited = true }),
	)...)
	if err != nil {
		return nil, err
	}
	command, err := parser.Parse(args)
	if exited {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w (see %s --help)", Readable(err), Selected(err, parser.Model.Name))
	}
	return command, nil
}

// Selected is the command that a command line with an error names, such as "hook-router up"; only
// the program if it names none.
func Selected(err error, program string) string {
	parse, ok := errors.AsType[*kong.ParseError](err)
	if !ok || parse.Context == nil || parse.Context.Selected() == nil {
		return program
	}
	return program + " " + parse.Context.Selected().Path()
}
