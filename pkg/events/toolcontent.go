package events

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// ToolContent returns what the tool call of an event does, in a normal form: an "Allow always"
// covers calls with the same content. It contains the tool, its whole input and the working
// directory, independent of the order of members and white space. For a known shell it leaves out
// descriptions and time-outs. ok is false if the event has no tool, or its data names neither a
// tool nor an input.
func (o Object) ToolContent(event string) (content []byte, ok bool) {
	call := callOf(o)
	given := call.given()
	switch {
	case !IsToolEvent(event):
		if name, _ := o.GetString("tool_name"); name == "" {
			return nil, false
		}
	case call.hasShape:
		given = []string{}
	case call.name == "" && len(given) == 0:
		return nil, false
	}
	if !call.hasShape && (len(given) == 0 || len(call.others) > 0) {
		return o.spelled(envelope...), true // the input may be in any member
	}
	var tool Tool
	kind, known := call.classify(&tool)
	w := NewObjectWriter(nil)
	w.Text("tool", call.name)
	w.Text("server", tool.Server)
	w.Text("server_tool", tool.ServerTool)
	w.Text("cwd", call.cwd)
	for _, member := range given {
		v, _ := call.at.Get(member)
		input := readInput(v)
		switch {
		case input.object.raw == nil:
			w.Raw(member, spell(v))
		case known && kind.class == ClassShell:
			w.Raw(member, input.object.spelled(remarks...))
		default:
			w.Raw(member, input.object.spelled())
		}
	}
	for _, member := range beside {
		if v, ok := o.Get(member); ok && (call.isMCP || member == inputResponses) {
			w.Raw(member, spell(v))
		}
	}
	if call.hasShape { // the input is the data, with ids that differ each time
		switch tool = call.tool(); {
		case tool.Partial || kind.class != ClassShell && kind.operation != OperationRead:
			return o.spelled("timestamp", "session_id"), true
		case kind.class == ClassShell: // including whether it leaves the sandbox
			return o.spelled(slices.Concat(envelope, remarks)...), true
		}
		w.Text("class", string(tool.Class))
		w.Texts("paths", tool.Paths)
	}
	return w.End(), true
}

// envelope lists members of the data that describe the context of a call and not what it does.
var envelope = []string{
	"timestamp", "session_id", "sessionId", "hook_event_name", "tool_use_id", "tool_call_id", "toolCallId", "call_id", "transcript_path", "permission_mode", "prompt_id", "turn_id",
	"conversation_id", "generation_id", "workspace_roots", "model", "parent_id", "parent_session_id", "cursor_version", "user_email",
}

// inputResponses is the member with the answers of an MCP client to the server's questions about
// the call. They are part of the input.
const inputResponses = "mcp_input_responses"

// beside lists the members of the data that identify the MCP server of a call, or add to its input.
// Cursor and Gemini CLI do not identify the server by name alone.
var beside = []string{"mcp_context", "command", "url", inputResponses}

// given returns the members that hold an input. Only the agent knows which one the tool gets.
func (c toolCall) given() (members []string) {
	for _, name := range inputMembers {
		if v, ok := c.at.Get(name); ok && v.Kind() != 'n' {
			members = append(members, name)
		}
	}
	return members
}

// remarks lists members of a shell's input that do not affect what it runs, in the form of
// [appendKey]. Models write different ones each time.
var remarks = []string{"description", "explanation", "justification", "timeout", "timeoutms"}

// spelled returns the object in normal form, without the members named in without.
func (o Object) spelled(without ...string) []byte {
	w := NewObjectWriter(nil)
	for name, v := range o.All() {
		if !slices.Contains(without, name) && !slices.Contains(without, keyOf(name)) {
			w.Raw(name, v)
		}
	}
	return spell(w.End())
}

// spell returns a value with sorted members and no white space. It keeps numbers as they are, since
// two large numbers must not become equal.
func spell(v jsontext.Value) []byte {
	v = v.Clone()
	_ = v.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)) // invalid JSON is compared by its bytes
	return v
}
