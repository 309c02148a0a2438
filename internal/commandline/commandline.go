// Package commandline parses the command lines of hook-router and hook-worker.
package commandline

import (
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/hookrouter/hookrouter/internal/version"
)

// Parse parses args into flags, a pointer to a struct with kong tags. It returns nil without an
// error after --help or --version.
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
	return command, onceEach(command)
}

// onceEach returns an error if a flag for an existing file was given twice. For such a flag, kong
// keeps the first value and does not check whether the second file exists.
func onceEach(command *kong.Context) error {
	given := map[*kong.Flag]bool{}
	for _, p := range command.Path {
		if p.Flag != nil && p.Flag.Tag.Type == "existingfile" {
			if given[p.Flag] {
				return fmt.Errorf("--%s is given twice: leave one of them out", p.Flag.Name)
			}
			given[p.Flag] = true
		}
	}
	return nil
}

// Selected returns the command whose help is relevant to an error of a command line, such as
// "hook-router up", or only the program if the command line names no command. A wrong flag is
// probably meant for the default command, and an unexpected argument of the default command is
// probably another command.
func Selected(err error, program string) string {
	parse, ok := errors.AsType[*kong.ParseError](err)
	if !ok || parse.Context == nil {
		return program
	}
	node := parse.Context.Selected()
	if node == nil {
		node = parse.Context.Model.Node
	}
	switch {
	case aboutFlag(err) && node.DefaultCmd != nil:
		node = node.DefaultCmd
	case strings.HasPrefix(err.Error(), "unexpected argument") && node.Parent != nil && node.Parent.DefaultCmd == node:
		node = node.Parent
	}
	return strings.TrimSpace(program + " " + node.Path())
}

// aboutFlag reports whether an error is about an unknown flag or an invalid value of a flag.
func aboutFlag(err error) bool {
	return strings.HasPrefix(err.Error(), "unknown flag") || strings.HasPrefix(err.Error(), "--")
}
