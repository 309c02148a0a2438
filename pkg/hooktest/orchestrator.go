package hooktest

import (
	"context"
	"fmt"

	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Step is one answer of a scripted model: the call of a tool, or the text that ends the
// turn.
type Step struct {
	Call *agent.ToolCall // nil for a text
	Text string
}

// ScriptedOrchestrator is an agent whose model is a script: for tests of hooks against
// whole turns. Use it from one goroutine.
type ScriptedOrchestrator struct {
	// Session is where it executes its events.
	Session *agent.Session
	// Tools by name.
	Tools map[string]agent.Tool
	// Steps are taken one by one, over as many turns as there are.
	Steps []Step
	// Results are what the tools returned so far, as the hooks left it.
	Results []string
}

// Turn takes a prompt behind prompt:submit, runs the tools of the script up to the next
// text, each behind its hooks, announces orchestrator:complete, and returns the text: DONE
// where the script has none left. The error of a denial is an *[agent.DeniedError].
func (o *ScriptedOrchestrator) Turn(ctx context.Context, prompt string) (string, error) {
	x, err := o.Session.Execute(ctx, events.PromptSubmit, events.PromptSubmitData{Prompt: prompt})
	if err == nil && !x.Permitted() {
		err = &agent.DeniedError{Event: events.PromptSubmit, Execution: x}
	}
	if err != nil {
		return "", err
	}
	text := "DONE"
	for len(o.Steps) > 0 {
		step := o.Steps[0]
		o.Steps = o.Steps[1:]
		if step.Call == nil {
			text = step.Text
			break
		}
		tool := o.Tools[step.Call.Name]
		if tool == nil {
			return "", fmt.Errorf("the script calls %s, and there is no such tool", step.Call.Name)
		}
		result, err := o.Session.RunTool(ctx, *step.Call, tool)
		if err != nil {
			return "", err
		}
		o.Results = append(o.Results, string(result))
	}
	_, err = o.Session.Execute(ctx, events.OrchestratorComplete, events.OrchestratorCompleteData{Orchestrator: "scripted", Status: "success"})
	return text, err
}
