package main

import (
	"context"
	"io"
	"os"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	hookdemo "github.com/hookrouter/hookrouter/internal/demo"
)

// demo is the command that runs the demo.
type demo struct{}

func (demo) run(ctx context.Context, stdout io.Writer) error {
	file, ok := stdout.(*os.File)
	return hookdemo.Run(ctx, stdout, ok && term.IsTerminal(file) && os.Getenv("NO_COLOR") == "")
}
