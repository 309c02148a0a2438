package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log"
	"os"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hooktest"
)

// said is a log that closes once the hook is registered.
type said chan struct{}

func (s said) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("registered")) {
		close(s)
	}
	return len(line), nil
}

func TestTheGuardOfTheReadme(t *testing.T) {
	bus := hooktest.Start(t, hooktest.Options{Listen: true})
	t.Setenv("NATS_URL", bus.URL())
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	registered := make(said)
	log.SetOutput(registered)
	defer log.SetOutput(os.Stderr)
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	select {
	case <-registered:
	case err := <-done:
		t.Fatal(err)
	}

	a := bus.Agent(t, "s1")
	for command, denied := range map[string]bool{`{"command":"rm -rf /"}`: true, `{"command":"ls"}`: false} {
		call := events.ToolPreData{ToolName: "Bash", ToolInput: json.RawMessage(command)}
		answer, err := a.Emit(ctx, events.ToolPre, call)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Hooks != 1 || answer.Denied() != denied {
			t.Errorf("%s: %+v", command, answer)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
