package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// RunInside installs agents, runs this program again, isolated from the network if possible, and
// returns its exit code. Without npm, it runs nothing and returns 0. Call it from a locked thread:
// the other program ends with the thread.
func RunInside(ctx context.Context, chosen []Agent, stdout io.Writer) (code int, err error) {
	for _, a := range chosen {
		_, err := Install(ctx, a)
		if errors.Is(err, ErrNoNpm) {
			fmt.Fprintf(stdout, "WARNING: %v, so real agents are NOT tested\n", err)
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
	}
	isolation, err := NewIsolation(ctx)
	if err != nil {
		fmt.Fprintf(stdout, "WARNING: agents are not cut off from the network; their proxies are set to a port where nothing listens: %v\n", err)
	}
	return isolation.Again(ctx)
}
