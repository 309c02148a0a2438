package docs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/hooktest"
	"github.com/hookrouter/hookrouter/pkg/verdict"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// mayExecute is the heart of an agent that has the router act on what hooks say.
func mayExecute(ctx context.Context, a *agent.Agent, call events.ToolPreData) (events.ToolPreData, error) {
	x, err := a.Execute(ctx, events.ToolPre, call)
	if err != nil {
		return call, fmt.Errorf("nobody decided, so it does not run: %w", err)
	}
	if !x.Permitted() {
		return call, fmt.Errorf("denied: %s", x.Reason)
	}
	var allowed events.ToolPreData
	err = x.Decode(&allowed)
	return allowed, err
}

// watchful creates an agent that shows its user what a person is asked.
func watchful(client *hookrouter.Client, out io.Writer) (*agent.Agent, error) {
	a, err := agent.New(client, agent.Options{Session: "s1", OnPending: func(q verdict.Approval) {
		fmt.Fprintf(out, "%s asks: %s (hookctl approvals answer %s)\n", q.Hook, q.Prompt, q.ID)
	}})
	return a, err
}

// leave says what an agent that did not wait leaves behind.
func leave(err error, out io.Writer) {
	if open, ok := errors.AsType[*agent.PendingError](err); ok {
		fmt.Fprintln(out, "still open:", open.Approval.Prompt)
	}
}

// turn is a turn of a session with a sub-agent.
func turn(ctx context.Context, a *agent.Agent, out io.Writer) error {
	memory := &agent.MemoryContext{}
	session, err := agent.NewSession(a, agent.SessionOptions{
		ID: "s1", Context: memory, Display: agent.NewTerminalDisplay(out),
	})
	if err != nil {
		return err
	}
	if _, err := session.Execute(ctx, events.PromptSubmit, events.PromptSubmitData{Prompt: "Tidy main.go"}); err != nil {
		return err
	}
	messages, err := session.NextCall(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, len(messages), "message for the model")

	sub, err := agent.NewSession(a, agent.SessionOptions{ID: "s1-reviewer", Parent: session, Context: &agent.MemoryContext{}})
	if err != nil {
		return err
	}
	_, err = sub.Execute(ctx, events.AgentComplete, events.AgentCompleteData{ParentSessionID: session.ID(), AgentName: "reviewer"})
	if err != nil {
		return err
	}
	messages, err = session.NextCall(ctx)
	fmt.Fprintln(out, len(messages), "messages for the model")
	return err
}

// whenWritten calls itself at each write.
type whenWritten func()

func (w whenWritten) Write(b []byte) (int, error) {
	w()
	return len(b), nil
}

// TestTheSnippetsOfExecuteRun runs the functions above.
func TestTheSnippetsOfExecuteRun(t *testing.T) {
	t.Parallel()
	bus := hooktest.Start(t, hooktest.Options{Listen: true})
	for id, hook := range map[string]struct {
		event string
		says  chain.Result
	}{
		"no-shell": {events.ToolPre, chain.Denial("no shell")},
		"style":    {events.PromptSubmit, chain.Result{Action: chain.InjectContext, ContextInjection: "Use tabs.", UserMessage: "style guide added"}},
		"review":   {events.AgentComplete, chain.Result{Action: chain.InjectContext, ContextInjection: "The review is done."}},
		"careful":  {"deploy:start", chain.Result{Action: chain.AskUser, ApprovalPrompt: "Deploy?"}},
	} {
		bus.Register(t, worker.Registration{ID: id, Events: []string{hook.event}, OnFailure: chain.FailClosed}, hooktest.Script(hook.says).Handle)
	}
	var out bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a, err := watchful(bus.Client(t), io.MultiWriter(&out, whenWritten(cancel)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mayExecute(t.Context(), a, events.ToolPreData{ToolName: "Bash"}); err == nil || err.Error() != "denied: no shell" {
		t.Errorf("error is %v", err)
	}
	if err := turn(t.Context(), a, &out); err != nil {
		t.Error(err)
	}
	_, err = a.Execute(ctx, "deploy:start", json.RawMessage(`{}`))
	leave(err, &out)
	want := "[info] hook:style: style guide added\n1 message for the model\n2 messages for the model\ncareful asks: Deploy? (hookctl"
	if !strings.HasPrefix(out.String(), want) || !strings.Contains(out.String(), "still open: Deploy?") {
		t.Errorf("said %q", out.String())
	}
}
