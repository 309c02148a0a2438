// Package first answers the agent before the rest of the program is initialized. Go
// initializes packages in the order of their import paths as soon as what they import is
// ready, so this one comes before NATS and TLS. Whatever links it becomes hook-agent: only
// that program may, and its tests are beside package supervisor.
package first

import (
	"os"
	"slices"

	"github.com/hookrouter/hookrouter/internal/agenthook/supervisor"
)

// Failure is why there is no answer yet; nil where no second process was to be started.
var Failure *supervisor.Failure

func init() {
	args := os.Args
	if len(args) < 2 || args[0] == supervisor.ChildName || args[1] == supervisor.RelayName || slices.Contains(args, "--supervise=false") {
		return
	}
	Failure = supervisor.Run(args)
}
