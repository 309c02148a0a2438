package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/hookrouter/hookrouter/internal/clientconn"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// ToolCall is one call of a tool.
type ToolCall struct {
	// Name of the tool.
	Name string
	// Input is the tool's parameters; it must marshal to a JSON object. nil means {}.
	Input any
	// Fields are further members of the events' data, such as tool_call_id; nil means none. The
	// members that RunTool sets take precedence.
	Fields map[string]any
}

// Tool runs a tool with the parameters that the hooks permitted, a JSON object. The result must
// marshal to JSON.
type Tool = func(ctx context.Context, input json.RawMessage) (result any, err error)

// DeniedError means that hooks or a person denied the call: the tool did not run, or its result
// must not be used.
type DeniedError struct {
	// Event is tool:pre if the tool did not run, and tool:post if it did.
	Event string
	// Execution holds the verdict.
	Execution Execution
}

func (e *DeniedError) Error() string {
	if e.Event == events.ToolPost {
		return "the result of the tool is withheld: " + e.Execution.Reason
	}
	return "denied: " + e.Execution.Reason
}

// RunTool runs a tool under control of its hooks: it executes tool:pre, runs the tool with the
// permitted parameters, and then executes tool:post, or tool:error if the tool failed. It returns
// the result as modified by the hooks: an object if the tool returned one, otherwise any JSON.
//
// The tool's own error is returned unchanged. Any other error means that the tool did not run, or
// that its result must not be used: a *[DeniedError] if the call was denied, or an error of
// [Agent.Execute] if nothing was decided.
func (a *Agent) RunTool(ctx context.Context, call ToolCall, run Tool) (json.RawMessage, error) {
	return runTool(ctx, a.Execute, call, run)
}

// RunTool is [Agent.RunTool] in this session. It also delivers the hooks' messages.
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
		failure := map[string]string{"type": fmt.Sprintf("%T", err), "message": clientconn.Shorten(err.Error(), maxMessage)}
		_, _ = do(ctx, events.ToolError, call.data(map[string]any{"error": failure})) // it failed already
		return nil, err
	}
	return after(ctx, do, call, result, time.Since(began))
}

// maxMessage bounds the message of an error, in bytes, so that the event is not too large.
const maxMessage = 64 << 10

// data returns the data of an event about the call, with the members of more.
func (c ToolCall) data(more map[string]any) map[string]any {
	data := make(map[string]any, len(c.Fields)+5)
	maps.Copy(data, c.Fields)
	maps.Copy(data, more)
	data["tool_name"], data["tool_input"] = c.Name, c.Input
	return data
}

// before executes tool:pre and returns the permitted parameters.
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

// after executes tool:post and returns the result as modified by the hooks.
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

// unwrap returns the member output of an object that has no other members.
func unwrap(result json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(result, &members) == nil && len(members) == 1 && members["output"] != nil {
		return members["output"]
	}
	return result
}

// permitted executes an event. A denial is returned as a *DeniedError.
func permitted(ctx context.Context, do execute, event string, data any) (Execution, error) {
	x, err := do(ctx, event, data)
	if err == nil && !x.Permitted() {
		err = &DeniedError{event, x}
	}
	return x, err
}
