package chain

import (
	"encoding/json"
	"fmt"
)

// Denial is the result that forbids the operation; reason is shown to the agent.
func Denial(reason string) Result { return Result{Action: Deny, Reason: reason} }

// Replace is the result that goes on with other data: any value that marshals
// to a JSON object, or a json.RawMessage that is one.
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

// Injection is the result that adds text to the agent's context as a system
// message.
func Injection(text string) Result {
	return Result{Action: InjectContext, ContextInjection: text}
}

// Question is the result that asks a person; without options they are Allow and
// Deny.
func Question(prompt string, options ...string) Result {
	return Result{Action: AskUser, ApprovalPrompt: prompt, ApprovalOptions: options}
}
