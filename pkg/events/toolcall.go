package events

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// toolCall is a call as sent: the name, and the input from whichever member holds it.
type toolCall struct {
	name     string
	input    toolInput
	cwd      string
	server   string // of an MCP call, if it is not part of the name
	remote   string // the tool's name on that server
	isMCP    bool   // independent of the name
	joined   bool   // the name may consist of an MCP server and its tool
	shape    toolKind
	hasShape bool   // the data's shape identifies the tool, instead of a name
	at       Object // the object with the members for name and input

	// others are the same call with each other member that could be its input. The data does not
	// say which one the agent uses.
	others []toolCall
}

// Members in which agents put the name and the input, the standard one first.
var (
	nameMembers  = []string{"tool_name", "toolName", "tool", "name"}
	inputMembers = []string{"tool_input", "toolInput", "toolArgs", "tool_args", "input", "arguments", "args", "parameters"}
	callMembers  = []string{"tool_call", "toolCall", "function", "tool"}
)

// maxCallNesting is the maximum depth of a wrapped call: {"tool_call":{"function":{…}}}.
const maxCallNesting = 3

// callOf finds the tool call in an event's data.
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
	input := firstOf(o, inputMembers)
	call.at, call.input = o, readInput(input)
	if kind, ok := cursorEvents[hook]; ok && call.name == "" {
		call.shape, call.hasShape = kind, true
		call.input = toolInput{object: data}
	}
	call.isMCP = cursorMCPEvents[hook]
	call.joined = maybeJoined(call.name, hook, data)
	if context, ok := objectOf(firstOf(data, []string{"mcp_context"})); ok { // Gemini CLI
		call.isMCP = true
		call.server, _ = context.GetString("server_name")
		call.remote, _ = context.GetString("tool_name")
	}
	if !call.hasShape {
		for _, other := range otherInputs(data, input) {
			same := call
			same.input, same.others = readInput(other), nil
			call.others = append(call.others, same)
		}
	}
	return call
}

// maybeJoined reports whether a name may consist of an MCP server's name and its tool's, in the way
// of the agent: Goose joins them with "__", OpenCode with '_', Copilot CLI with '-'. Names of the
// agent's own tools do not count.
func maybeJoined(name, hook string, data Object) bool {
	has := func(member string) bool { _, ok := data.Get(member); return ok }
	switch {
	case strings.HasPrefix(hook, "tool.execute.") || has("callID"):
		return strings.ContainsAny(name, "_-") && !toolNames()["OpenCode"][name]
	case strings.Contains(name, "__"), strings.Contains(name, "-") && has("timestamp"):
		return !toolNames()[""][name]
	}
	return false
}

// maxOtherInputs is the maximum number of additional inputs of a call. Further ones are ignored:
// the call is partial with any.
const maxOtherInputs = 8

// otherInputs returns the inputs in data other than the one that the call has: next to it, around
// it, and in calls that data has as members.
func otherInputs(data Object, input jsontext.Value) (others []jsontext.Value) {
	var known [][]byte
	var look func(o Object, depth int)
	look = func(o Object, depth int) {
		for _, name := range inputMembers {
			v, ok := o.Get(name)
			if !ok || v.Kind() == 'n' || isSame(v, input) || len(others) == maxOtherInputs {
				continue
			}
			if known == nil {
				known = append(known, spell(input))
			}
			spelled := spell(v)
			if !slices.ContainsFunc(known, func(k []byte) bool { return bytes.Equal(k, spelled) }) {
				known, others = append(known, spelled), append(others, v)
			}
		}
		for _, name := range callMembers {
			v, _ := o.Get(name)
			if inner, ok := objectOf(v); ok && depth < maxCallNesting {
				look(inner, depth+1)
			}
		}
	}
	look(data, 1)
	return others
}

// isSame reports whether two values are the same bytes in memory.
func isSame(a, b jsontext.Value) bool { return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] }

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
