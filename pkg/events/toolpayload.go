package events

import "github.com/go-json-experiment/json/jsontext"

// ToolInput is the input of the tool call in an event's data, wherever its agent put
// it: the object, the zero Object for none; or the text, where the tool takes one.
func (o Object) ToolInput() (input Object, text string) {
	call := callOf(o)
	return call.input.object, call.input.text
}

// ToolResult is what the tool of an event's data gave back, wherever its agent put it;
// nil for nothing.
func (o Object) ToolResult() jsontext.Value { return firstOf(o, resultMembers) }

// resultMembers are where agents put the result, the standard place first.
var resultMembers = []string{"tool_result", "toolResult", "tool_response", "toolResponse", "tool_output", "result", "output"}
