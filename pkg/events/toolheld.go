package events

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxToolCalls is the maximum number of calls of one event.
const MaxToolCalls = 256

// ToolsOf returns the tool call of an event, as [ToolOf] does, followed by the calls in its input
// at any depth, such as those of OpenCode's batch. Guards must judge each and use the strictest
// result. Calls that can't be read are represented by a Tool that is [Tool.Unread]. For an event
// that is not about a tool call, ToolsOf returns nil.
func ToolsOf(event string, data []byte) []Tool {
	tool, ok := ToolOf(event, data)
	if !ok {
		return nil
	}
	tools := []Tool{tool}
	if !tool.Partial && tool.Known && (tool.Class == ClassShell || tool.Class == ClassFile || tool.Class == ClassWeb) {
		return tools
	}
	o, err := ParseObject(data)
	if err != nil {
		return tools
	}
	call := callOf(o)
	tools = call.held(tools, tool.Cwd, 0)
	for _, other := range call.others {
		tool := other.tool()
		tool.Partial = true
		tools = other.held(append(tools, tool), tool.Cwd, 0)
	}
	return tools
}

// Unread reports whether it is unknown which tool is called. Guards should ask a person then.
func (t Tool) Unread() bool { return t.Name == "" && !t.Known }

// held appends the calls in a call's input, recursively. Shells and tools for files and the web
// contain none.
func (c toolCall) held(tools []Tool, cwd string, depth int) []Tool {
	var calls []toolCall
	var unread bool
	switch kind, known := c.classify(new(Tool)); {
	case !known || kind.class == ClassMCP || kind.form == bundle:
		calls, unread = c.input.calls(kind.form == bundle)
	case kind.class == ClassShell || kind.class == ClassFile || kind.class == ClassWeb:
		return tools
	default:
		calls, unread = c.passedOn(kind.form == slash)
	}
	for _, call := range calls {
		if depth == maxCallNesting || len(tools) >= MaxToolCalls-1 {
			unread = true
			break
		}
		call.cwd = cwd
		tool := call.tool()
		tools = call.held(append(tools, tool), tool.Cwd, depth+1)
	}
	if unread {
		tools = append(tools[:min(len(tools), MaxToolCalls-1)], Tool{Class: ClassOther, Partial: true, Cwd: cwd})
	}
	return tools
}

// Members of an input that hold calls, and the members of such a call, in the form of [appendKey].
// Members such as name, which are not specific to tools, name a tool only in a list of calls.
var (
	heldMembers   = []string{"toolcalls", "tooluses", "calls", "invocations", "steps", "actions", "tasks", "operations"}
	heldNames     = []string{"tool", "toolname", "toolcall", "recipientname"}
	heldListNames = append([]string{"name", "function"}, heldNames...)
	heldInputs    = []string{"toolinput", "toolargs", "input", "arguments", "args", "parameters"}
)

// calls returns the calls in the lists of an input, or the input itself if it is one. unread
// reports that there are others. In a bundle, every element of a list is a call, and there must be
// a list; elsewhere a call has a name and an object as input.
func (in toolInput) calls(isBundle bool) (calls []toolCall, unread bool) {
	lists := 0
	take := func(v jsontext.Value, names []string) {
		var h heldCall
		h.read(v, names, maxCallNesting)
		switch isCall := isBundle || h.names > 0 && h.inputs > 0 && h.call.input.object.raw != nil; {
		case isCall && h.names == 1 && h.inputs == 1:
			calls = append(calls, h.call)
		case isCall:
			unread = true
		}
	}
	for name, v := range in.object.All() {
		if !slices.Contains(heldMembers, keyOf(name)) {
			continue
		}
		lists++
		if inner, odd := Unpacked(name, v); !isBundle { // a bundle in a string is unread
			unread = unread || odd
			if inner != nil {
				v = inner
			}
		}
		if v.Kind() != '[' {
			take(v, heldListNames)
			continue
		}
		for e := range elements(v) {
			take(e, heldListNames)
		}
	}
	if isBundle {
		return calls, unread || lists == 0
	}
	if lists == 0 && in.object.raw != nil {
		take(in.object.Bytes(), heldNames)
	}
	return calls, unread
}

// heldCall is a call in an input, with the number of members that could be its name and its input.
// A model wrote it: if there are several, it is unknown which one counts.
type heldCall struct {
	call          toolCall
	names, inputs int
}

// read reads a call, which may be wrapped as in {"function":{"name":…,"arguments":…}}, up to the
// given depth.
func (h *heldCall) read(v jsontext.Value, names []string, depth int) {
	o, ok := objectOf(v)
	if !ok || depth == 0 {
		return
	}
	for member, v := range o.All() {
		switch key := keyOf(member); {
		case v.Kind() == 'n':
		case slices.Contains(heldInputs, key):
			h.inputs++
			h.call.input = readInput(v)
		case !slices.Contains(names, key):
		case v.Kind() == '{':
			h.read(v, heldListNames, depth-1)
		default:
			h.names++
			h.call.name = withoutNamespace(v)
		}
	}
}

// withoutNamespace returns a tool's name without the namespace that OpenAI's models prefix.
func withoutNamespace(v jsontext.Value) string {
	name, err := unquote(v)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(name, "functions.")
}
