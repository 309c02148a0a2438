package main

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hooktest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func TestTheAgentOfTheReadmeObeys(t *testing.T) {
	bus := hooktest.Start(t, hooktest.Options{Listen: true})
	t.Setenv("NATS_URL", bus.URL())
	quieter := func(_ context.Context, ev worker.Event) (worker.Result, error) {
		data, err := events.ParseObject(ev.Data)
		if err != nil {
			return worker.Result{}, err
		}
		return worker.Modify(json.RawMessage(data.With("tool_input", []byte(`{"command":"git status -s"}`))))
	}
	hook := hooktest.ScriptFunc(quieter, func(context.Context, worker.Event) (worker.Result, error) { return worker.Deny("no") })
	bus.Register(t, worker.Registration{ID: "scripted", Events: []string{events.ToolPre}, OnFailure: chain.FailClosed}, hook.Handle)
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	want := "git status: runs with {\"command\":\"git status -s\"}\nrm -rf /: denied: no\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
