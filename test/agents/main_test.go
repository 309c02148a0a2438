package agents_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/test/agents"
)

// TestMain runs the tests. Where AGENTS names agents, it installs them first, and then runs
// this program again, cut off from the network.
func TestMain(m *testing.M) {
	list := os.Getenv("AGENTS")
	if list == "" || agents.Inside() {
		testkit.Parallel(3) // agents and hooks wait more than they compute
		m.Run()
		return
	}
	runtime.LockOSThread() // the other program ends with this thread
	code, err := runInside(list)
	if err != nil {
		fmt.Fprintln(os.Stderr, "test/agents:", err)
		code = 1
	}
	os.Exit(code)
}

func runInside(list string) (code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	chosen, err := agents.Select(list)
	if err != nil {
		return 0, err
	}
	for _, a := range chosen {
		_, err := agents.Install(ctx, a)
		if errors.Is(err, agents.ErrNoNpm) {
			fmt.Printf("WARNING: %v, so real agents are NOT tested\n", err)
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
	}
	isolation, err := agents.NewIsolation(ctx)
	if err != nil {
		fmt.Printf("WARNING: agents are not cut off from the network; their proxies are set to a port where nothing listens: %v\n", err)
	}
	return isolation.Again(ctx)
}
