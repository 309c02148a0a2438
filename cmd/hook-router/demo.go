package main

import (
	"context"
	"io"
	"os"

	hookdemo "github.com/hookrouter/hookrouter/internal/demo"
)

// demo is the tour of the product.
type demo struct{}

func (demo) run(ctx context.Context, stdout io.Writer) error {
	return hookdemo.Run(ctx, stdout, isTerminal(stdout) && os.Getenv("NO_COLOR") == "")
}

// isTerminal reports whether w is a terminal a person looks at.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
