package main

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hooktest"
)

func TestTheGuardOfTheReadme(t *testing.T) {
	bus := hooktest.Start(t, hooktest.Options{Listen: true})
	t.Setenv("NATS_URL", bus.URL())
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()

	a := bus.Agent(t, "s1")
	for command, denied := range map[string]bool{`{"command":"rm -rf /"}`: true, `{"command":"ls"}`: false} {
		call := events.ToolPreData{ToolName: "Bash", ToolInput: json.RawMessage(command)}
		for {
			answer, err := a.Emit(ctx, events.ToolPre, call)
			if err != nil {
				t.Fatal(err)
			}
			if answer.Hooks == 0 && ctx.Err() == nil {
				continue // it is not registered yet
			}
			if answer.Denied() != denied {
				t.Errorf("%s: %+v", command, answer)
			}
			break
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
