package hooktest

import (
	"context"
	"fmt"

	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Step is one answer of a scripted model: a tool call, or the text that ends the turn.
type Step struct {
	Call *agent.ToolCall // nil for a text
	Text string
}

// ScriptedOrchestrator is an agent with a scripted model, for tests of hooks with whole turns. It
// is not safe for concurrent use.
type ScriptedOrchestrator struct {
	// Session executes the events.
	Session *agent.Session
	// Tools by name.
	Tools map[string]agent.Tool
	// Steps are the model's answers in order, over all turns.
	Steps []Step
	// Results are the results of the tools so far, as modified by the hooks.
	Results []string
}

// Turn runs one turn: it executes prompt:submit, runs the tools of the script up to the next text
// under control of their hooks, executes orchestrator:complete, and returns the text, or DONE if
// the script has none left. A denial is returned as an *[agent.DeniedError].
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
