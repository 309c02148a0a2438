// Package first answers the agent before the rest of the program is initialized. Go initializes
// packages sorted by import path, each after the packages that it imports, so this package precedes
// NATS and TLS. Any program that links it becomes hook-agent. So only hook-agent may link it, and
// its tests are in package supervisor.
package first

import (
	"os"
	"slices"

	"github.com/hookrouter/hookrouter/internal/agenthook/supervisor"
)

// Failure is the reason why there is no answer yet; nil if no second process was needed.
var Failure *supervisor.Failure

func init() {
	args := os.Args
	if len(args) < 2 || args[0] == supervisor.ChildName || args[1] == supervisor.RelayName || slices.Contains(args, "--supervise=false") {
		return
	}
	Failure = supervisor.Run(args)
}
