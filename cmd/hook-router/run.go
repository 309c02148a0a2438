package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/hookrouter/hookrouter/internal/commandline"
	"github.com/hookrouter/hookrouter/internal/completion"
	"github.com/hookrouter/hookrouter/internal/signals"
)

// flags are the program's flags. Each defaults to an environment variable.
type flags struct {
	Serve      serve              `cmd:"" default:"withargs" help:"Run the router (the default)."`
	Up         up                 `cmd:"" help:"Run the router, a worker with a policy, and the console, all in this process."`
	Demo       demo               `cmd:"" help:"Run one agent turn through real hooks, in this process."`
	Completion completion.Command `cmd:"" help:"Print a completion script for a shell."`
	Version    kong.VersionFlag   `help:"Print the version."`
}

// hideRefused removes the flags that up refuses from its help.
func hideRefused(k *kong.Kong) error {
	for _, command := range k.Model.Children {
		for _, flag := range command.Flags {
			if command.Name == "up" && slices.Contains(refusedByUp, flag.Name) {
				flag.Hidden = true
			}
		}
	}
	return nil
}

// run runs the program.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, sig signals.Signals) error {
	var f flags
	command, err := commandline.Parse(&f, args, kong.Name("hook-router"), kong.Writers(stdout, stderr),
		kong.Description("Routes the lifecycle events of AI agents through hooks, over NATS."), kong.PostBuild(hideRefused))
	if command == nil || err != nil {
		return err
	}
	switch name, _, _ := strings.Cut(command.Command(), " "); name {
	case "demo":
		return f.Demo.run(ctx, stdout)
	case "completion":
		return f.Completion.Run(command)
	}
	f.Serve.locate(command, os.Getenv)
	f.Up.Router.locate(command, os.Getenv)
	if command.Command() == "up" {
		if err := errors.Join(f.Up.check(), f.Up.Router.check(command)); err != nil {
			return fmt.Errorf("%w (see hook-router up --help)", err)
		}
		return f.Up.run(ctx, stdout, stderr, sig)
	}
	if err := f.Serve.check(command); err != nil {
		return fmt.Errorf("%w (see hook-router serve --help)", err)
	}
	return f.Serve.run(ctx, stdout, stderr, sig, nil)
}
