package events

import (
	"bytes"
	"regexp"

	"github.com/go-json-experiment/json/jsontext"
)

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

// Unpacked is the list or object that stands as JSON in the text of a member, which some servers of
// MCP take for that: whoever judges a call must see both. It is nil for other values, and for members
// with what a file or a message consists of. unread says that some readers find one in the text, and
// not all find the same.
func Unpacked(member string, v jsontext.Value) (inner jsontext.Value, unread bool) {
	if v.Kind() != '"' || contentMember.MatchString(member) {
		return nil, false
	}
	text, err := jsontext.AppendUnquote(nil, v)
	text = bytes.Trim(text, " \t\r\n")
	if err != nil || !bytes.HasPrefix(text, []byte("[")) && !bytes.HasPrefix(text, []byte("{")) {
		return nil, false
	}
	if inner = text; inner.IsValid() {
		return inner, false
	}
	inner = notNumber.ReplaceAll(text, []byte("0"))
	return nil, inner.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// contentMember matches what holds a text that may well be JSON.
var contentMember = regexp.MustCompile(`(?i)(content|text|body|message|code)s?$|^(old|new)_?str(ing)?$`)

// notNumber matches what Python reads as numbers, too.
var notNumber = regexp.MustCompile(`-?\b(NaN|Infinity)\b`)
