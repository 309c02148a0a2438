package events

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxToolCalls bounds the calls of one event.
const MaxToolCalls = 256

// ToolsOf returns the tool call that an event is about, as [ToolOf] does, and behind it
// the calls that its input holds, at any depth, such as those of OpenCode's batch. It is
// for guards: they judge each, and the strictest answer counts. For calls that can't be
// read there is a Tool that is [Tool.Unread]. An event that isn't about a tool has none.
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

// Unread reports whether nobody can say which tool is called. A guard asks then.
func (t Tool) Unread() bool { return t.Name == "" && !t.Known }

// held appends the calls that a call holds, and those in them. Shells and tools for files
// and the web hold none.
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

// The members of an input that hold calls, and those of such a call, as [appendKey]
// makes them. A member that names things of all kinds names a tool only in a list of
// calls.
var (
	heldMembers   = []string{"toolcalls", "tooluses", "calls", "invocations", "steps", "actions", "tasks", "operations"}
	heldNames     = []string{"tool", "toolname", "toolcall", "recipientname"}
	heldListNames = append([]string{"name", "function"}, heldNames...)
	heldInputs    = []string{"toolinput", "toolargs", "input", "arguments", "args", "parameters"}
)

// calls reads the calls that an input holds in lists, or is itself. unread says that there
// are others. In a bundle everything in a list is a call, and there is a list; elsewhere a
// call has a name and an object as its input.
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
		if inner, odd := Unpacked(name, v); !isBundle { // a bundle in a text is unread
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

// heldCall is a call in an input, and how many members could be its name and its input.
// A model has written it: if there are several, nobody knows which one counts.
type heldCall struct {
	call          toolCall
	names, inputs int
}

// read takes a call, {"function":{"name":…,"arguments":…}} too, but not wrapped deeper
// than that.
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

// withoutNamespace is a tool's name without the one that OpenAI's models put before it.
func withoutNamespace(v jsontext.Value) string {
	name, err := unquote(v)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(name, "functions.")
}
