package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// ToolCall is one call of a tool.
type ToolCall struct {
	// Name of the tool.
	Name string
	// Input is the tool's parameters; it must marshal to a JSON object. nil means {}.
	Input any
	// Fields are further members of the events' data, such as tool_call_id; nil for none. They
	// do not replace those that RunTool sets.
	Fields map[string]any
}

// Tool runs a tool with the parameters that the hooks permit, a JSON object. Its result must
// marshal to JSON.
type Tool = func(ctx context.Context, input json.RawMessage) (result any, err error)

// DeniedError means that hooks or a person denied the call: the tool did not run, or its result
// must not be used.
type DeniedError struct {
	// Event is tool:pre if the tool did not run, and tool:post if it did.
	Event string
	// Execution has the verdict.
	Execution Execution
}

// Error returns the reason.
func (e *DeniedError) Error() string {
	if e.Event == events.ToolPost {
		return "the result of the tool is withheld: " + e.Execution.Reason
	}
	return "denied: " + e.Execution.Reason
}

// RunTool runs a tool behind its hooks: it executes tool:pre, runs the tool with the permitted
// parameters, and executes tool:post, or tool:error if the tool failed. It returns the result as
// the hooks leave it: an object if the tool's result is one, else any JSON.
//
// An error that is not the tool's own means that the tool did not run, or that its result must
// not be used: a *[DeniedError] if that was decided, and any other error of [Agent.Execute] if
// nothing was. The tool's own error is returned as it is.
func (a *Agent) RunTool(ctx context.Context, call ToolCall, run Tool) (json.RawMessage, error) {
	return runTool(ctx, a.Execute, call, run)
}

// RunTool is [Agent.RunTool] in this session, which delivers what the hooks want said.
func (s *Session) RunTool(ctx context.Context, call ToolCall, run Tool) (json.RawMessage, error) {
	return runTool(ctx, s.Execute, call, run)
}

type execute = func(ctx context.Context, event string, data any) (Execution, error)

func runTool(ctx context.Context, do execute, call ToolCall, run Tool) (json.RawMessage, error) {
	if call.Input == nil {
		call.Input = struct{}{}
	}
	input, err := before(ctx, do, call)
	if err != nil {
		return nil, err
	}
	call.Input = input
	began := time.Now()
	result, err := run(ctx, input)
	if err != nil {
		_, _ = do(ctx, events.ToolError, call.data(map[string]any{"error": map[string]string{"type": fmt.Sprintf("%T", err), "message": err.Error()}})) // it failed already
		return nil, err
	}
	return after(ctx, do, call, result, time.Since(began))
}

// data returns the data of an event about the call, with further members.
func (c ToolCall) data(more map[string]any) map[string]any {
	data := make(map[string]any, len(c.Fields)+5)
	maps.Copy(data, c.Fields)
	maps.Copy(data, more)
	data["tool_name"], data["tool_input"] = c.Name, c.Input
	return data
}

// before asks whether the tool may run, and returns the parameters to run it with.
func before(ctx context.Context, do execute, call ToolCall) (json.RawMessage, error) {
	x, err := permitted(ctx, do, events.ToolPre, call.data(nil))
	if err != nil {
		return nil, err
	}
	var data events.ToolPreData
	if err := x.Decode(&data); err != nil {
		return nil, err
	}
	if object, err := events.ParseObject(data.ToolInput); err == nil && data.ToolName == call.Name {
		return object.Bytes(), nil
	}
	return nil, fmt.Errorf("a hook changed the call of %s into one that this agent can't make", call.Name)
}

// after reports what the tool returned, and returns what the hooks made of it.
func after(ctx context.Context, do execute, call ToolCall, result any, took time.Duration) (json.RawMessage, error) {
	returned, err := json.Marshal(result)
	if err != nil {
		return nil, fmt.Errorf("the result of %s: %w", call.Name, err)
	}
	_, notObject := events.ParseObject(returned)
	sent := returned
	if notObject != nil {
		sent = append(append([]byte(`{"output":`), returned...), '}')
	}
	x, err := permitted(ctx, do, events.ToolPost, call.data(map[string]any{"tool_result": json.RawMessage(sent), "success": true, "duration_ms": took.Milliseconds()}))
	if err != nil {
		return nil, err
	}
	var data struct {
		Result json.RawMessage `json:"tool_result"`
	}
	if err := x.Decode(&data); err != nil {
		return nil, err
	}
	if len(data.Result) == 0 {
		return nil, errors.New("a hook took the result away")
	}
	if notObject == nil {
		return data.Result, nil
	}
	return unwrap(data.Result), nil
}

// unwrap returns the output from an object that holds nothing else.
func unwrap(result json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(result, &members) == nil && len(members) == 1 && members["output"] != nil {
		return members["output"]
	}
	return result
}

// permitted executes an event. The error is a *DeniedError if it is denied.
func permitted(ctx context.Context, do execute, event string, data any) (Execution, error) {
	x, err := do(ctx, event, data)
	if err == nil && !x.Permitted() {
		err = &DeniedError{event, x}
	}
	return x, err
}
