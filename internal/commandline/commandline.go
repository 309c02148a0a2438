// Package commandline parses the command lines of hook-router and hook-worker.
package commandline

import (
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
		return nil, fmt.Errorf("%w (see %s --help)", err, parser.Model.Name)
	}
	return command, nil
}
