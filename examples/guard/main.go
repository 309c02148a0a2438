// Command guard is the hook of the README: it keeps rm -rf from every agent on
// the bus.
package main

import (
	"bytes"
	"context"
	"errors"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
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

// run answers for the hook until ctx ends.
func run(ctx context.Context) error {
	w, err := worker.Connect(ctx, worker.Options{URL: os.Getenv("NATS_URL"), Name: "guard"})
	if err != nil {
		return err
	}
	reg := worker.Registration{ID: "no-rm-rf", Events: []string{events.ToolPre}, OnFailure: chain.FailClosed}
	_, err = w.Register(ctx, reg, func(_ context.Context, ev worker.Event) (worker.Result, error) {
		var call events.ToolPreData
		if err := ev.Decode(&call); err != nil {
			return worker.Result{}, err
		}
		if call.ToolName == "Bash" && bytes.Contains(call.ToolInput, []byte("rm -rf")) {
			return worker.Deny("rm -rf is not for agents")
		}
		return worker.Continue()
	})
	if err != nil {
		return errors.Join(err, w.Close(ctx))
	}
	log.Print("no-rm-rf is registered")
	return w.Run(ctx)
}
