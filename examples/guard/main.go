// Command guard is the hook of the README: it keeps rm -rf from every agent on
// the bus.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/hookrouter/hookrouter/pkg/worker"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// bash is what the hook reads of a call of the Bash tool.
type bash struct {
	Input struct {
		Command string `json:"command"`
	} `json:"tool_input"`
}

// run answers for the hook until ctx ends.
func run(ctx context.Context) error {
	hook := worker.Registration{ID: "no-rm-rf", Events: []string{"tool:pre"}, Match: "data.tool_name == 'Bash'", OnFailure: worker.FailClosed}
	return worker.Run(ctx, os.Getenv("NATS_URL"), hook, worker.Typed(func(_ context.Context, call bash) (worker.Result, error) {
		if strings.Contains(call.Input.Command, "rm -rf") {
			return worker.Deny("rm -rf is not for agents")
		}
		return worker.Continue()
	}))
}
