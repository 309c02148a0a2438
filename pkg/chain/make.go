package chain

import (
	"encoding/json"
	"fmt"
)

// Denial returns a result that forbids the operation. The agent sees the reason.
func Denial(reason string) Result { return Result{Action: Deny, Reason: reason} }

// Replace returns a result that replaces the event's data. data is a value that marshals to a JSON
// object, or a json.RawMessage that is one.
func Replace(data any) (Result, error) {
	raw, ok := data.(json.RawMessage)
	if !ok {
		b, err := json.Marshal(data)
		if err != nil {
			return Result{}, fmt.Errorf("modify data: %w", err)
		}
		raw = b
	}
	if len(raw) == 0 || raw[0] != '{' {
		return Result{}, fmt.Errorf("modify data: a JSON object is needed, not %.20s", raw)
	}
	return Result{Action: Modify, Data: raw}, nil
}

// Injection returns a result that adds text to the agent's context as a system message.
func Injection(text string) Result {
	return Result{Action: InjectContext, ContextInjection: text}
}

// Question returns a result that asks a person. Without options it offers Allow and Deny.
func Question(prompt string, options ...string) Result {
	return Result{Action: AskUser, ApprovalPrompt: prompt, ApprovalOptions: options}
}
