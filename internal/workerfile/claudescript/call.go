package claudescript

import (
	"cmp"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Call is an event for a script. It is read-only.
type Call struct {
	// Name is the hook event, such as PreToolUse.
	Name string

	event  events.Event
	data   events.Object
	fields []field // the members of Claude Code's input, in its order
	input  string  // the member of the data with the tool's input; empty if it is nested deeper
	output string  // the member of the data with the tool's output
}

type field struct {
	name  string
	value jsontext.Value
}

// The members that may contain a tool's input and its output.
var (
	inputs  = []string{"tool_input", "toolInput", "toolArgs", "tool_args", "input", "arguments", "args", "parameters"}
	outputs = []string{"tool_response", "tool_result", "toolResult"}
)

// CallOf returns the call for an event; ok is false if Claude Code has no hook for it. dir is the
// directory of sessions that do not name their own. CallOf fails if the event's data is not a JSON
// object.
func CallOf(ev events.Event, dir string) (call Call, ok bool, err error) {
	if !Known(ev.Name) {
		return Call{}, false, nil
	}
	var data events.Object
	if len(ev.Data) > 0 {
		if data, err = events.ParseObject(ev.Data); err != nil {
			return Call{}, false, err
		}
	}
	c := Call{Name: counterpart(ev.Name, data), event: ev, data: data}
	c.common(dir)
	switch c.Name {
	case preToolUse, postToolUse, postToolUseFailure, permissionRequest, permissionDenied:
		c.tool()
	case subagentStart, subagentStop:
		c.subagent()
	}
	c.own()
	return c, true, nil
}

// Input returns the JSON document that the script reads: the event's data, overridden by the
// members that Claude Code documents.
func (c Call) Input() []byte {
	w := events.NewObjectWriter(make([]byte, 0, len(c.event.Data)+512))
	for _, f := range c.fields {
		w.Raw(f.name, f.value)
	}
	for name, value := range c.data.All() {
		if _, ours := c.get(name); !ours {
			quoted, _ := jsontext.AppendQuote(nil, name) // name was parsed from JSON
			w.Raw(string(quoted[1:len(quoted)-1]), value)
		}
	}
	return append(w.End(), '\n')
}

func (c *Call) common(dir string) {
	session := c.event.Session
	if parent, ok := c.data.GetString("parent_session_id"); ok && (c.Name == subagentStart || c.Name == subagentStop) {
		session = parent
	}
	c.set("session_id", quote(session))
	c.text("transcript_path", "")
	c.text("cwd", dir)
	c.text("permission_mode", "default")
	c.set("hook_event_name", quote(c.Name))
}

func (c *Call) tool() {
	tool, _ := c.data.Tool(c.event.Name)
	c.text("tool_name", tool.Name)
	c.setInput()
	c.text("tool_use_id", c.event.ID)
	if c.Name == postToolUse {
		c.output = cmp.Or(c.first("tool_response", "{}", outputs...), "tool_result")
	}
	if c.Name == postToolUseFailure {
		c.set("error", quote(c.message("error")))
	}
}

// setInput sets the tool's input. It is the object that other guards judge, even if the data has it
// as a string or inside a nested call.
func (c *Call) setInput() {
	object, _ := c.data.ToolInput()
	packed := jsontext.Value(object.Bytes())
	for _, member := range inputs {
		value, ok := c.data.Get(member)
		if !ok || value.Kind() == 'n' {
			continue
		}
		if value.Kind() == '"' && object.Len() > 0 {
			value = packed
		}
		c.set("tool_input", value)
		c.input = member
		return
	}
	c.set("tool_input", packed)
	if object.Len() == 0 {
		c.input = "tool_input"
	}
}

func (c *Call) subagent() {
	name, _ := c.data.GetString("agent_name")
	c.text("agent_id", c.event.Session)
	c.text("agent_type", name)
	if c.Name == subagentStop {
		c.text("agent_transcript_path", "")
	}
}

// own sets the members that are specific to a hook event.
func (c *Call) own() {
	switch c.Name {
	case sessionStart:
		why := map[string]string{events.SessionResume: "resume", events.SessionFork: "fork"}[c.event.Name]
		c.text("source", cmp.Or(why, "startup"))
	case sessionEnd:
		c.renamed("reason", "other", map[string]string{"user_exit": "prompt_input_exit", "complete": "other", "error": "other", "timeout": "other"})
	case userPromptSubmit:
		c.text("prompt", "")
	case notification:
		c.text("message", "")
		c.renamed("notification_type", "", map[string]string{"awaiting_input": "idle_prompt", "approval_required": "permission_prompt"})
	case stop, subagentStop:
		c.first("stop_hook_active", "false", "stop_hook_active")
		c.text("last_assistant_message", c.message("final_message"))
	case stopFailure:
		c.set("error", quote(cmp.Or(c.message("error"), "unknown")))
	case preCompact:
		c.text("trigger", "auto")
		c.text("custom_instructions", "")
	case postCompact:
		c.text("trigger", "auto")
	case permissionDenied:
		c.text("reason", "")
	}
}

func (c *Call) set(name string, value jsontext.Value) {
	c.fields = append(c.fields, field{name, value})
}

// text sets a member to the text of the same name in the data, or else to other.
func (c *Call) text(name, other string) { c.renamed(name, other, nil) }

// renamed does what text does for a member with some values that Claude Code spells differently.
func (c *Call) renamed(name, other string, words map[string]string) {
	if text, ok := c.data.GetString(name); ok {
		other = cmp.Or(words[text], text)
	}
	c.set(name, quote(other))
}

// first sets a member to the first of the given members that the data has, and returns its name. If
// the data has none of them, first sets the member to other.
func (c *Call) first(name, other string, from ...string) string {
	for _, candidate := range from {
		if value, ok := c.data.Get(candidate); ok {
			c.set(name, value)
			return candidate
		}
	}
	c.set(name, jsontext.Value(other))
	return ""
}

// message returns the text in a member of the data, which may be an object with a text.
func (c *Call) message(name string) string {
	value, ok := c.data.Get(name)
	if !ok || value.Kind() == 'n' {
		return ""
	}
	if text, ok := c.data.GetString(name); ok {
		return text
	}
	if o, err := events.ParseObject(value); err == nil {
		for _, member := range [...]string{"message", "content", "text"} {
			if text, ok := o.GetString(member); ok {
				return text
			}
		}
	}
	return string(value)
}

func (c Call) get(name string) (jsontext.Value, bool) {
	for _, f := range c.fields {
		if f.name == name {
			return f.value, true
		}
	}
	return nil, false
}

// subject returns the value that a matcher is compared with, or "" if there is none.
func (c Call) subject() string {
	value, ok := c.get(traitsOf[c.Name].subject)
	if !ok {
		return ""
	}
	text, _ := jsontext.AppendUnquote(nil, value)
	return string(text)
}

func quote(text string) jsontext.Value {
	quoted, _ := jsontext.AppendQuote(nil, text) // replaces invalid UTF-8
	return quoted
}
