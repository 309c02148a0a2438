package events

import "github.com/go-json-experiment/json/jsontext"

// toolCall is a call as it was sent: the name, and the input wherever it stood.
type toolCall struct {
	name     string
	input    toolInput
	cwd      string
	server   string // of an MCP call, where it is told beside the name
	remote   string // the tool's name there
	isMCP    bool   // whatever the name is
	shape    toolKind
	hasShape bool   // shape says what the tool is, in place of the name
	at       Object // what has the name and the input as members
}

// Where agents put the name and the input, the standard place first.
var (
	nameMembers  = []string{"tool_name", "toolName", "tool", "name"}
	inputMembers = []string{"tool_input", "toolInput", "toolArgs", "tool_args", "input", "arguments", "args", "parameters"}
	callMembers  = []string{"tool_call", "toolCall", "function", "tool"}
)

// maxCallNesting is how deep a call may be wrapped: {"tool_call":{"function":{…}}}.
const maxCallNesting = 3

// callOf finds the call in an event's data.
func callOf(data Object) toolCall {
	var call toolCall
	call.cwd, _ = data.GetString("cwd")
	hook, _ := data.GetString("hook_event_name")
	o := data
	for range maxCallNesting {
		if call.name = firstString(o, nameMembers); call.name != "" {
			break
		}
		inner, ok := firstObject(o, callMembers)
		if !ok {
			break
		}
		o = inner
	}
	call.at, call.input = o, readInput(firstOf(o, inputMembers))
	if kind, ok := cursorEvents[hook]; ok && call.name == "" {
		call.shape, call.hasShape = kind, true
		call.input = toolInput{object: data}
	}
	call.isMCP = cursorMCPEvents[hook]
	if context, ok := objectOf(firstOf(data, []string{"mcp_context"})); ok { // Gemini CLI
		call.isMCP = true
		call.server, _ = context.GetString("server_name")
		call.remote, _ = context.GetString("tool_name")
	}
	return call
}

func firstOf(o Object, names []string) jsontext.Value {
	for _, name := range names {
		if v, ok := o.Get(name); ok && v.Kind() != 'n' {
			return v
		}
	}
	return nil
}

func firstString(o Object, names []string) string {
	for _, name := range names {
		if text, ok := o.GetString(name); ok && text != "" {
			return text
		}
	}
	return ""
}

func firstObject(o Object, names []string) (Object, bool) {
	for _, name := range names {
		v, _ := o.Get(name)
		if inner, ok := objectOf(v); ok {
			return inner, true
		}
	}
	return Object{}, false
}

func objectOf(v jsontext.Value) (Object, bool) {
	if v == nil || v.Kind() != '{' {
		return Object{}, false
	}
	o, err := ParseObject(v)
	return o, err == nil
}
