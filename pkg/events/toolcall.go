package events

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// toolCall is a call as it was sent: the name, and the input wherever it stood.
type toolCall struct {
	name     string
	input    toolInput
	cwd      string
	server   string // of an MCP call, where it is told beside the name
	remote   string // the tool's name there
	isMCP    bool   // whatever the name is
	joined   bool   // the name may be that of an MCP server and its tool
	shape    toolKind
	hasShape bool   // shape says what the tool is, in place of the name
	at       Object // what has the name and the input as members

	// others are the same call with what else could be its input. Which one the agent takes, the
	// data does not say.
	others []toolCall
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

// maybeJoined reports whether a name may be an MCP server's name and its tool's, as the agent joins
// them: Goose with "__", OpenCode with '_', Copilot CLI with '-'. So web_search is no tool of OpenCode.
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

// maxOtherInputs bounds the inputs that a call may have besides its own; a call with more is judged
// by them, and is partial like one with fewer.
const maxOtherInputs = 8

// otherInputs are the inputs that stand in data besides the one that a call has: beside it, around
// it and in the calls that it has as members.
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

// isSame reports whether two values are one, and stand at one place.
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
