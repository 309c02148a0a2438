package docs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hooktest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func runCommand(context.Context, json.RawMessage) (any, error) { return "files", nil }

// listFiles runs a tool behind its hooks.
func listFiles(ctx context.Context, s *agent.Session) error {
	result, err := s.RunTool(ctx, agent.ToolCall{Name: "Bash", Input: map[string]string{"command": "ls"}}, runCommand)
	if denied, ok := errors.AsType[*agent.DeniedError](err); ok {
		return fmt.Errorf("tell the model: %s", denied.Execution.Reason)
	}
	if err == nil && string(result) != `"files"` {
		return fmt.Errorf("the result is %s", result)
	}
	return err
}

func TestAToolRunsBehindItsHooks(t *testing.T) {
	t.Parallel()
	b := hooktest.Start(t)
	script := hooktest.Script(chain.Result{}, chain.Denial("not today"))
	b.Register(t, worker.Registration{ID: "guard", Events: []string{events.ToolPre}}, script.Handle)
	s, err := agent.NewSession(b.Agent(t, "s1"), agent.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<nil>", "tell the model: not today"} {
		if err := listFiles(t.Context(), s); fmt.Sprint(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
