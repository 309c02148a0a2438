package events

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// ToolContent is what the tool call of an event does, in one spelling: who allowed a call
// for good allowed calls with the same content. It has the tool, its input whole and where
// it runs, whatever the order and the white space of members; of a shell that is known it
// has not what describes the command or bounds its time. ok is false if the event has no
// tool, and where its data names neither a tool nor an input.
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
		return o.spelled(envelope...), true // its input may be anywhere
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
	if call.hasShape { // the input is the data, with ids that are new each time
		switch tool = call.tool(); {
		case tool.Partial || kind.class != ClassShell && kind.operation != OperationRead:
			return o.spelled("timestamp", "session_id"), true
		case kind.class == ClassShell: // also whether it leaves the sandbox
			return o.spelled(slices.Concat(envelope, remarks)...), true
		}
		w.Text("class", string(tool.Class))
		w.Texts("paths", tool.Paths)
	}
	return w.End(), true
}

// envelope are members of the data that say when and in what a call is made, and not what it does.
var envelope = []string{
	"timestamp", "session_id", "sessionId", "hook_event_name", "tool_use_id", "tool_call_id", "toolCallId", "call_id", "transcript_path", "permission_mode", "prompt_id", "turn_id",
	"conversation_id", "generation_id", "workspace_roots", "model", "parent_id", "parent_session_id", "cursor_version", "user_email",
}

// inputResponses is the member with what the client of an MCP server answers to its questions
// about the call: more input.
const inputResponses = "mcp_input_responses"

// beside are the members of the data that a call to an MCP server is about besides its tool and
// input: which server it is, which Cursor and Gemini CLI don't tell by a name alone.
var beside = []string{"mcp_context", "command", "url", inputResponses}

// given are the members that hold an input: which one a tool gets, only its agent knows.
func (c toolCall) given() (members []string) {
	for _, name := range inputMembers {
		if v, ok := c.at.Get(name); ok && v.Kind() != 'n' {
			members = append(members, name)
		}
	}
	return members
}

// remarks are members of a shell's input that change nothing of what it runs, as
// [appendKey] makes them: models write others each time.
var remarks = []string{"description", "explanation", "justification", "timeout", "timeoutms"}

// spelled is the object without members of some names, in the spelling of spell.
func (o Object) spelled(without ...string) []byte {
	w := NewObjectWriter(nil)
	for name, v := range o.All() {
		if !slices.Contains(without, name) && !slices.Contains(without, keyOf(name)) {
			w.Raw(name, v)
		}
	}
	return spell(w.End())
}

// spell is a value with its members in order and no white space between. Numbers stay as
// they are: two large ones must not become the same.
func spell(v jsontext.Value) []byte {
	v = v.Clone()
	_ = v.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)) // of what is no JSON the bytes count
	return v
}
