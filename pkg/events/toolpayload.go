package events

import (
	"bytes"
	"regexp"

	"github.com/go-json-experiment/json/jsontext"
)

// ToolInput returns the input of the tool call in an event's data, from whichever member holds it:
// the object, or the zero Object; or the text, for tools that take one.
func (o Object) ToolInput() (input Object, text string) {
	call := callOf(o)
	return call.input.object, call.input.text
}

// ToolResult returns the tool's result in an event's data, from whichever member holds it; nil if
// there is none.
func (o Object) ToolResult() jsontext.Value { return firstOf(o, resultMembers) }

// resultMembers are the members in which agents put the result, the standard one first.
var resultMembers = []string{"tool_result", "toolResult", "tool_response", "toolResponse", "tool_output", "result", "output"}

// Unpacked returns the list or object that a member holds as JSON in a string, since some MCP
// servers decode it: guards must judge both forms. It is nil for other values, and for members that
// hold the content of a file or a message. unread reports that some parsers accept the text and
// others do not, or decode it differently.
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

// contentMember matches members whose text may well be JSON.
var contentMember = regexp.MustCompile(`(?i)(content|text|body|message|code)s?$|^(old|new)_?str(ing)?$`)

// notNumber matches numbers that Python accepts and JSON does not.
var notNumber = regexp.MustCompile(`-?\b(NaN|Infinity)\b`)
