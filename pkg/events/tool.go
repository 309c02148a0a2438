package events

import "strings"

// ToolClass says what kind of tool a call is for, whatever its vendor names it.
type ToolClass string

// The classes of tools. The zero ToolClass is for events that aren't about a tool.
const (
	ClassShell ToolClass = "shell" // runs commands, or may
	ClassFile  ToolClass = "file"  // reads, changes or finds files
	ClassWeb   ToolClass = "web"   // fetches from the web or searches it
	ClassMCP   ToolClass = "mcp"   // a tool of an MCP server
	ClassAgent ToolClass = "agent" // hands a task to a sub-agent
	ClassTodo  ToolClass = "todo"  // keeps the agent's list of tasks
	ClassOther ToolClass = "other" // none of these, or not known: see Tool.Known
)

// ToolClasses returns all classes.
func ToolClasses() []ToolClass {
	return []ToolClass{ClassShell, ClassFile, ClassWeb, ClassMCP, ClassAgent, ClassTodo, ClassOther}
}

// ToolOperation says what a tool of the classes file and web does.
type ToolOperation string

// The operations of tools. The zero ToolOperation is for tools that have none.
const (
	OperationRead   ToolOperation = "read"
	OperationWrite  ToolOperation = "write" // a new file, or all of one
	OperationEdit   ToolOperation = "edit"  // a part of a file
	OperationDelete ToolOperation = "delete"
	OperationMove   ToolOperation = "move"
	OperationList   ToolOperation = "list"
	OperationSearch ToolOperation = "search" // files by name or content, or the web
	OperationFetch  ToolOperation = "fetch"  // from the web
)

// ToolOperations returns all operations.
func ToolOperations() []ToolOperation {
	return []ToolOperation{OperationRead, OperationWrite, OperationEdit, OperationDelete, OperationMove, OperationList, OperationSearch, OperationFetch}
}

// MaxToolPaths bounds the paths, and the URLs, of one [Tool].
const MaxToolPaths = 256

// Tool is the normal form of a tool call: what a hook asks about it, in one
// spelling for all agents. The event's data stays beside it as it was sent. Texts
// are as the agent sent them: paths are not resolved and commands are not parsed,
// since only the agent's machine knows what they mean there.
//
// A guard asks what is certain. Known false means that nobody knows what the tool
// does; Partial true means that it does more than the other fields tell.
type Tool struct {
	// Name is the tool's name as it was sent.
	Name string `json:"name"`
	// Class is the tool's class. A tool whose name is not known is a shell where
	// its input has a command, and other elsewhere.
	Class ToolClass `json:"class"`
	// Known says that the class follows from the name; else it was guessed.
	Known bool `json:"known"`
	// Partial says that the input could not be read in full, lacks what such a tool
	// needs, or holds calls of other tools.
	Partial bool `json:"partial,omitempty"`

	// Operation is what a tool for files or the web does. Where a patch does several
	// things it is the one that reaches furthest: delete, move, write, edit.
	Operation ToolOperation `json:"operation,omitempty"`
	// Command is what a shell shall run, or a tool of an MCP server that takes a
	// command. Of a list of words it is the line with the words quoted, or the
	// script alone for a shell that is given one, as in ["bash","-lc",script].
	// Arguments that stand beside it are its last words. Where several members of the
	// input could be the command, or the arguments, there is a line for each. The input of a
	// tool of an MCP server is read at any depth, and JSON in its texts too.
	Command string `json:"command,omitempty"`
	// Cwd is where a command runs, or else where the agent is.
	Cwd string `json:"cwd,omitempty"`
	// Paths are the files and directories named in the input, at most MaxToolPaths.
	// A shell has none: they are somewhere in its command.
	Paths []string `json:"paths,omitempty"`
	// URLs are the addresses named in the input, at most MaxToolPaths.
	URLs []string `json:"urls,omitempty"`
	// Server is the MCP server, empty if the agent doesn't say.
	Server string `json:"server,omitempty"`
	// ServerTool is the tool's name on the MCP server.
	ServerTool string `json:"server_tool,omitempty"`
}

// Subject is what a person is told that the call is about: the command, or else the first
// path or address. It is empty if the input has none.
func (t Tool) Subject() string {
	for _, text := range [...]string{t.Command, t.Path(), t.URL()} {
		if text != "" {
			return text
		}
	}
	return ""
}

// Path is the first of the paths, empty for none. A guard looks at all of them.
func (t Tool) Path() string { return first(t.Paths) }

// URL is the first of the URLs, empty for none. A guard looks at all of them.
func (t Tool) URL() string { return first(t.URLs) }

// ToolOf returns the tool call that an event is about; ok is false for an event
// that isn't about one, and costs nothing then. Data that is not a JSON object makes a
// Tool that is not Known and Partial. It takes time in proportion to the data.
func ToolOf(event string, data []byte) (tool Tool, ok bool) {
	if !IsToolEvent(event) {
		return Tool{}, false
	}
	o, err := ParseObject(data)
	if err != nil {
		return Tool{Class: ClassOther, Partial: true}, true
	}
	return o.Tool(event)
}

// Tool is [ToolOf] for data that was parsed already.
func (o Object) Tool(event string) (tool Tool, ok bool) {
	if !IsToolEvent(event) {
		return Tool{}, false
	}
	call := callOf(o)
	if call.name == "" && !call.hasShape && isApproval(event) {
		return Tool{}, false
	}
	return call.tool(), true
}

// IsToolEvent reports whether an event of this name may be about a tool call: those
// of the domain tool, and those of approvals, which are where the data names a tool.
func IsToolEvent(event string) bool {
	return strings.HasPrefix(Canonical(event), "tool:") || isApproval(event)
}

func isApproval(event string) bool { return strings.HasPrefix(event, "approval:") }

func first(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return texts[0]
}
