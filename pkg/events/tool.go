package events

import "strings"

// ToolClass is the kind of tool that a call is for, independent of vendors' names.
type ToolClass string

// The classes of tools. The zero ToolClass is for events that are not about a tool.
const (
	ClassShell ToolClass = "shell" // runs commands, or may run them
	ClassFile  ToolClass = "file"  // reads, changes or finds files
	ClassWeb   ToolClass = "web"   // fetches from the web or searches it
	ClassMCP   ToolClass = "mcp"   // a tool of an MCP server
	ClassAgent ToolClass = "agent" // delegates a task to a sub-agent
	ClassTodo  ToolClass = "todo"  // maintains the agent's list of tasks
	ClassOther ToolClass = "other" // none of these, or unknown: see Tool.Known
)

// ToolClasses returns all classes.
func ToolClasses() []ToolClass {
	return []ToolClass{ClassShell, ClassFile, ClassWeb, ClassMCP, ClassAgent, ClassTodo, ClassOther}
}

// ToolOperation is what a tool of the classes file and web does.
type ToolOperation string

// The operations of tools. The zero ToolOperation is for tools of other classes.
const (
	OperationRead   ToolOperation = "read"
	OperationWrite  ToolOperation = "write" // creates or replaces a file
	OperationEdit   ToolOperation = "edit"  // changes a part of a file
	OperationDelete ToolOperation = "delete"
	OperationMove   ToolOperation = "move"
	OperationList   ToolOperation = "list"
	OperationSearch ToolOperation = "search" // for files by name or content, or on the web
	OperationFetch  ToolOperation = "fetch"  // from the web
)

// ToolOperations returns all operations.
func ToolOperations() []ToolOperation {
	return []ToolOperation{OperationRead, OperationWrite, OperationEdit, OperationDelete, OperationMove, OperationList, OperationSearch, OperationFetch}
}

// MaxToolPaths is the maximum number of paths, and of URLs, of one [Tool].
const MaxToolPaths = 256

// Tool is the normal form of a tool call. It answers a hook's questions about the call in one form
// for all agents; the event's data is not changed. Texts are as the agent sent them: paths are not
// resolved and commands are not parsed, since their meaning depends on the agent's machine.
//
// A guard must rely only on what is certain. If Known is false, it is unknown what the tool does.
// If Partial is true, the tool may do more than the other fields say.
type Tool struct {
	// Name is the tool's name as sent.
	Name string `json:"name"`
	// Class is the tool's class. A tool with an unknown name is a shell if its input has a command,
	// otherwise ClassOther.
	Class ToolClass `json:"class"`
	// Known reports whether the class follows from the name. If false, it is a guess.
	Known bool `json:"known"`
	// Partial reports that the input could not be read completely, lacks what such a tool needs, or
	// contains calls of other tools.
	Partial bool `json:"partial,omitempty"`

	// Operation is what a tool for files or the web does. If a patch does several things, it is the
	// one with the greatest effect: delete, move, write, edit.
	Operation ToolOperation `json:"operation,omitempty"`
	// Command is the command of a shell, or of an MCP server's tool that takes a command. A list of
	// words becomes a line with quoted words, or only the script if it runs one in a shell, as in
	// ["bash","-lc",script]. Separate arguments are appended. If several members of the input could
	// be the command or its arguments, Command has a line for each. The input of an MCP server's
	// tool is searched at any depth, including JSON in strings.
	Command string `json:"command,omitempty"`
	// Cwd is the command's working directory, or else the agent's.
	Cwd string `json:"cwd,omitempty"`
	// Paths are the files and directories named in the input, at most MaxToolPaths. A shell has
	// none: they are part of its command.
	Paths []string `json:"paths,omitempty"`
	// URLs are the addresses named in the input, at most MaxToolPaths.
	URLs []string `json:"urls,omitempty"`
	// Server is the MCP server; empty if the agent does not say.
	Server string `json:"server,omitempty"`
	// ServerTool is the tool's name on the MCP server.
	ServerTool string `json:"server_tool,omitempty"`
}

// Subject describes for a person what the call is about: the command, or else the first path or
// URL. It is empty if the input has none.
func (t Tool) Subject() string {
	for _, text := range [...]string{t.Command, t.Path(), t.URL()} {
		if text != "" {
			return text
		}
	}
	return ""
}

// Path returns the first path; empty if there is none. Guards must check all Paths.
func (t Tool) Path() string { return first(t.Paths) }

// URL returns the first URL; empty if there is none. Guards must check all URLs.
func (t Tool) URL() string { return first(t.URLs) }

// ToolOf returns the normal form of the tool call that an event is about. ok is false if the event
// is not about a tool call; this is decided without parsing data where the name suffices. If data
// is not a JSON object, Known is false and Partial is true. ToolOf takes time linear in the size of
// data.
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

// Tool is [ToolOf] for parsed data.
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

// IsToolEvent reports whether an event of this name may be about a tool call: events of the domain
// tool always are, those of approval only if their data names a tool.
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
