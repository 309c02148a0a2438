// Command rewrite makes agents install the packages that the lock file pins: it
// changes npm install to npm ci, and tells each new session why.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

var registration = worker.Registration{ID: "npm-ci", Events: []string{events.SessionStart, events.ToolPre}, Priority: 10}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// run serves the hook until ctx ends.
func run(ctx context.Context) error {
	return worker.Run(ctx, os.Getenv("NATS_URL"), registration, pin)
}

// pin injects context at the start of a session, and modifies shell commands.
func pin(_ context.Context, ev worker.Event) (worker.Result, error) {
	if ev.Name == events.SessionStart {
		return worker.Inject("Packages are pinned: npm install runs as npm ci.")
	}
	data, err := events.ParseObject(ev.Data)
	if err != nil {
		return worker.Result{}, err
	}
	if tool, _ := data.Tool(ev.Name); tool.Command != "npm install" {
		return worker.Continue()
	}
	input, _ := data.Get("tool_input")
	object, err := events.ParseObject(input)
	if err != nil {
		return worker.Result{}, err
	}
	// With replaces one member and keeps the bytes of all others.
	input = object.With("command", []byte(`"npm ci"`))
	return worker.Modify(json.RawMessage(data.With("tool_input", input)))
}
