package agents_test

import (
	"context"
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
	runtime.LockOSThread()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	chosen, err := agents.Select(list)
	code := 1
	if err == nil {
		code, err = agents.RunInside(ctx, chosen, os.Stdout)
	}
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "test/agents:", err)
		code = 1
	}
	os.Exit(code)
}
