package events

import "sync"

// toolKind is what a tool's name implies.
type toolKind struct {
	class     ToolClass
	operation ToolOperation
	form      inputForm
}

// inputForm is how to read a tool's input if its class does not determine that.
type inputForm int

const (
	usual  inputForm = iota
	typed            // text typed into a running shell; may be empty
	quiet            // queries or ends a running shell: there is no command
	globs            // the member include names files; elsewhere it only narrows a search
	finder           // the pattern is for file names
	script           // code in a language other than a shell's
	patch            // the paths are in a patch
	editor           // the member command is the operation
	bundle           // calls of other tools, which the normal form does not show
	slash            // the member command is a slash command of the agent, or a skill
)

var (
	shellKind    = toolKind{class: ClassShell}
	typedKind    = toolKind{class: ClassShell, form: typed}
	codeKind     = toolKind{class: ClassShell, form: script}
	terminalKind = toolKind{class: ClassShell, form: quiet}
	readKind     = toolKind{class: ClassFile, operation: OperationRead}
	readAllKind  = toolKind{class: ClassFile, operation: OperationRead, form: globs}
	writeKind    = toolKind{class: ClassFile, operation: OperationWrite}
	editKind     = toolKind{class: ClassFile, operation: OperationEdit}
	patchKind    = toolKind{class: ClassFile, operation: OperationEdit, form: patch}
	editorKind   = toolKind{class: ClassFile, operation: OperationEdit, form: editor}
	deleteKind   = toolKind{class: ClassFile, operation: OperationDelete}
	moveKind     = toolKind{class: ClassFile, operation: OperationMove}
	listKind     = toolKind{class: ClassFile, operation: OperationList}
	searchKind   = toolKind{class: ClassFile, operation: OperationSearch}
	findKind     = toolKind{class: ClassFile, operation: OperationSearch, form: finder}
	fetchKind    = toolKind{class: ClassWeb, operation: OperationFetch}
	lookupKind   = toolKind{class: ClassWeb, operation: OperationSearch}
	mcpKind      = toolKind{class: ClassMCP}
	agentKind    = toolKind{class: ClassAgent}
	todoKind     = toolKind{class: ClassTodo}
	otherKind    = toolKind{class: ClassOther}
	bundleKind   = toolKind{class: ClassOther, form: bundle}
	slashKind    = toolKind{class: ClassOther, form: slash}
)

// toolRow lists tools of one kind.
type toolRow struct {
	kind  toolKind
	names []string
}

// toolVendors lists tools by vendor. Names are compared ignoring case, '_', '-' and spaces. A name
// means the same for all vendors, since an event does not identify its vendor. Comments name the
// documentation of a vendor's tools.
var toolVendors = []struct {
	vendor string
	rows   []toolRow
}{
	// Hooks reference, tool_input by tool; tools reference for those without a hook example.
	{"Claude Code", []toolRow{
		{shellKind, []string{"Bash", "PowerShell", "Monitor"}},
		{terminalKind, []string{"BashOutput", "KillBash", "KillShell", "TaskOutput", "TaskStop"}},
		{readKind, []string{"Read", "NotebookRead"}},
		{writeKind, []string{"Write", "ConfigChange"}}, // the latter is an event, which hook-agent sends as a call
		{editKind, []string{"Edit", "MultiEdit", "NotebookEdit"}},
		{listKind, []string{"LS"}},
		{searchKind, []string{"Grep"}},
		{findKind, []string{"Glob"}},
		{fetchKind, []string{"WebFetch"}},
		{lookupKind, []string{"WebSearch"}},
		{agentKind, []string{"Agent", "Task", "SendMessage"}},
		{todoKind, []string{"TodoWrite", "TodoRead", "TaskCreate", "TaskUpdate", "TaskGet", "TaskList"}},
		{otherKind, []string{"AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "ToolSearch"}},
		{slashKind, []string{"Skill", "SlashCommand"}},
		{editorKind, []string{"str_replace_editor", "str_replace_based_edit_tool"}}, // of the model's API
	}},
	// Hooks page; openai/codex codex-rs/tools/src/local_tool.rs and codex-rs/protocol/src/models.rs.
	{"Codex CLI", []toolRow{
		{shellKind, []string{"shell", "Bash", "container.exec", "shell_command", "exec_command", "local_shell", "unified_exec"}},
		{codeKind, []string{"exec"}},
		{typedKind, []string{"write_stdin"}},
		{patchKind, []string{"apply_patch"}},
		{readKind, []string{"read_file", "view_image"}},
		{listKind, []string{"list_dir"}},
		{searchKind, []string{"grep_files"}},
		{lookupKind, []string{"web_search"}},
		{agentKind, []string{"spawn_agent", "Agent", "send_input", "followup_task", "resume_agent", "wait_agent", "interrupt_agent", "close_agent", "list_agents"}},
		// Hooks see a tool's namespace before its name, without a separator.
		{agentKind, []string{"collaborationspawn_agent", "collaborationfollowup_task", "collaborationsend_message", "collaborationwait_agent", "collaborationinterrupt_agent", "collaborationlist_agents"}},
		{agentKind, []string{"multi_agent_v1send_input", "multi_agent_v1resume_agent", "multi_agent_v1wait_agent", "multi_agent_v1close_agent"}},
		{todoKind, []string{"update_plan", "get_goal", "create_goal", "update_goal"}},
		{otherKind, []string{"request_user_input", "request_user_input_async", "send_message_to_user_async", "request_permissions", "clockcurr_time", "clocksleep"}},
		{bundleKind, []string{"multi_tool_use.parallel"}},
	}},
	// google-gemini/gemini-cli docs/tools and packages/core/src/tools/definitions/base-declarations.ts.
	{"Gemini CLI", []toolRow{
		{shellKind, []string{"run_shell_command"}},
		{terminalKind, []string{"read_background_output", "list_background_processes"}},
		{readKind, []string{"read_file"}},
		{readAllKind, []string{"read_many_files"}},
		{writeKind, []string{"write_file"}},
		{editKind, []string{"replace"}},
		{listKind, []string{"list_directory"}},
		{searchKind, []string{"grep_search", "search_file_content"}},
		{findKind, []string{"glob"}},
		{fetchKind, []string{"web_fetch"}},
		{lookupKind, []string{"google_web_search"}},
		{agentKind, []string{"invoke_agent", "codebase_investigator", "cli_help"}},
		{todoKind, []string{"write_todos", "tracker_create_task", "tracker_update_task", "tracker_get_task", "tracker_list_tasks", "tracker_add_dependency", "tracker_visualize"}},
		{otherKind, []string{"save_memory", "ask_user", "activate_skill", "get_internal_docs", "enter_plan_mode", "exit_plan_mode", "update_topic", "complete_task"}},
	}},
	// QwenLM/qwen-code packages/core/src/tools/tool-names.ts. Hooks see the tools that its
	// tool_call calls instead of it.
	{"Qwen Code", []toolRow{
		{shellKind, []string{"run_shell_command", "monitor"}},
		{codeKind, []string{"exec"}},
		{terminalKind, []string{"task_stop"}},
		{readKind, []string{"read_file", "zoom_image", "display_image"}},
		{writeKind, []string{"write_file"}},
		{editKind, []string{"edit", "notebook_edit"}},
		{listKind, []string{"list_directory"}},
		{searchKind, []string{"grep_search"}},
		{findKind, []string{"glob"}},
		{fetchKind, []string{"web_fetch"}},
		{lookupKind, []string{"web_search"}},
		{agentKind, []string{"agent", "list_agents"}},
		{todoKind, []string{"todo_write", "task_create", "task_update", "task_list"}},
		{otherKind, []string{"save_memory", "ask_user_question", "enter_plan_mode", "exit_plan_mode", "tool_search", "lsp"}},
		{slashKind, []string{"skill"}},
	}},
	// github/docs Copilot CLI command reference and hooks reference.
	{"GitHub Copilot CLI", []toolRow{
		{shellKind, []string{"bash", "powershell"}},
		{typedKind, []string{"write_bash", "write_powershell"}},
		{terminalKind, []string{"read_bash", "stop_bash", "list_bash", "read_powershell", "stop_powershell", "list_powershell"}},
		{readKind, []string{"view"}},
		{writeKind, []string{"create"}},
		{editKind, []string{"edit"}},
		{patchKind, []string{"apply_patch"}},
		{searchKind, []string{"grep", "rg"}},
		{findKind, []string{"glob"}},
		{fetchKind, []string{"web_fetch"}},
		{agentKind, []string{"task"}},
		{todoKind, []string{"update_todo"}},
		{otherKind, []string{"ask_user", "report_intent", "think", "task_complete", "store_memory", "fetch_copilot_cli_documentation"}},
		{slashKind, []string{"skill"}},
	}},
	// Tools of Copilot in VS Code, which reads the same hooks.
	{"GitHub Copilot in VS Code", []toolRow{
		{shellKind, []string{"run_in_terminal"}},
		{terminalKind, []string{"get_terminal_output"}},
		{readKind, []string{"read_file", "get_errors"}},
		{writeKind, []string{"create_file", "create_directory"}},
		{editKind, []string{"replace_string_in_file", "multi_replace_string_in_file", "insert_edit_into_file", "edit_notebook_file", "editFiles"}},
		{patchKind, []string{"apply_patch"}},
		{listKind, []string{"list_dir"}},
		{searchKind, []string{"grep_search", "semantic_search"}},
		{findKind, []string{"file_search"}},
		{fetchKind, []string{"fetch_webpage"}},
		{agentKind, []string{"runSubagent"}},
		{todoKind, []string{"manage_todo_list"}},
	}},
	// cursor.com/docs/hooks. Second spellings are those of older releases.
	{"Cursor", []toolRow{
		{shellKind, []string{"Shell", "run_terminal_cmd"}},
		{readKind, []string{"Read", "read_file", "TabRead"}},
		{writeKind, []string{"Write", "TabWrite"}},
		{editKind, []string{"StrReplace", "edit_file", "search_replace", "EditNotebook"}},
		{deleteKind, []string{"Delete", "delete_file"}},
		{listKind, []string{"LS", "list_dir"}},
		{searchKind, []string{"Grep", "grep_search", "SemanticSearch", "codebase_search"}},
		{findKind, []string{"Glob", "file_search"}},
		{fetchKind, []string{"WebFetch"}},
		{lookupKind, []string{"WebSearch"}},
		{agentKind, []string{"Task"}},
		{todoKind, []string{"TodoWrite", "todo_write"}},
		{otherKind, []string{"read_lints", "update_memory", "create_plan"}},
	}},
	// anomalyco/opencode packages/opencode/src/tool.
	{"OpenCode", []toolRow{
		{shellKind, []string{"bash"}},
		{readKind, []string{"read"}},
		{writeKind, []string{"write"}},
		{editKind, []string{"edit", "multiedit"}},
		{patchKind, []string{"apply_patch", "patch"}},
		{listKind, []string{"list"}},
		{searchKind, []string{"grep"}},
		{findKind, []string{"glob"}},
		{fetchKind, []string{"webfetch"}},
		{lookupKind, []string{"websearch", "codesearch"}},
		{agentKind, []string{"task"}},
		{todoKind, []string{"todowrite", "todoread"}},
		{otherKind, []string{"question", "plan_enter", "plan_exit", "lsp"}},
		{slashKind, []string{"skill"}},
		{bundleKind, []string{"batch"}},
	}},
	// microsoft/amplifier-module-tool-* and amplifier-bundle-filesystem.
	{"Amplifier", []toolRow{
		{shellKind, []string{"bash"}},
		{readKind, []string{"read_file"}},
		{writeKind, []string{"write_file"}},
		{editKind, []string{"edit_file"}},
		{patchKind, []string{"apply_patch"}},
		{searchKind, []string{"grep"}},
		{findKind, []string{"glob"}},
		{fetchKind, []string{"web_fetch"}},
		{lookupKind, []string{"web_search"}},
		{agentKind, []string{"task", "delegate"}},
		{todoKind, []string{"todo"}},
	}},
	// block/goose crates/goose-mcp/src/developer and its platform extensions; the prefix is the
	// extension's name.
	{"Goose", []toolRow{
		{shellKind, []string{"shell", "developer__shell"}},
		{editorKind, []string{"text_editor", "developer__text_editor"}},
		{writeKind, []string{"write", "developer__write"}},
		{editKind, []string{"edit", "developer__edit"}},
		{listKind, []string{"tree", "developer__tree"}},
		{todoKind, []string{"todo__todo_write"}},
	}},
	// Names that custom agents often use.
	{"others", []toolRow{
		{shellKind, []string{"sh", "zsh", "cmd", "terminal", "execute_command", "run_command", "run_shell", "execute_bash"}},
		{writeKind, []string{"write_to_file"}},
		{deleteKind, []string{"remove_file"}},
		{moveKind, []string{"move_file", "rename_file"}},
		{listKind, []string{"list_files"}},
		{searchKind, []string{"search_files"}},
	}},
}

// cursorEvents maps events of Cursor that name no tool to its kind. Their data is the input.
var cursorEvents = map[string]toolKind{
	"beforeShellExecution": shellKind, "afterShellExecution": shellKind,
	"beforeReadFile": readKind, "beforeTabFileRead": readKind,
	"afterFileEdit": editKind, "afterTabFileEdit": editKind,
}

// cursorMCPEvents are events about tools of MCP servers whose names do not show that.
var cursorMCPEvents = map[string]bool{"beforeMCPExecution": true, "afterMCPExecution": true}

// resourceTools maps tools of agents (Claude Code, Codex CLI) that read the resources of an MCP
// server to names for them as tools of the server that the input names. Keys are in the form of
// [keyOf].
var resourceTools = map[string]string{
	"listmcpresourcestool": "list_resources", "listmcpresources": "list_resources", "listmcpresourcetemplates": "list_resource_templates",
	"readmcpresourcetool": "read_resource", "readmcpresource": "read_resource",
}

// toolKinds maps names in the form of [keyOf] to kinds. It is built on the first lookup.
var toolKinds = sync.OnceValue(func() map[string]toolKind {
	kinds := map[string]toolKind{}
	for _, v := range toolVendors {
		for _, row := range v.rows {
			for _, name := range row.names {
				kinds[keyOf(name)] = row.kind
			}
		}
	}
	return kinds
})

// toolNames maps vendors to the exact names of their tools, and "" to those of all vendors.
var toolNames = sync.OnceValue(func() map[string]map[string]bool {
	all := map[string]map[string]bool{"": {}}
	for _, v := range toolVendors {
		all[v.vendor] = map[string]bool{}
		for _, row := range v.rows {
			for _, name := range row.names {
				all[v.vendor][name], all[""][name] = true, true
			}
		}
	}
	return all
})

// maxKeyLen exceeds the length of all names in the tables.
const maxKeyLen = 64

// appendKey appends the form in which names are compared. It truncates names that are longer than
// all names in the tables.
func appendKey(key []byte, name string) []byte {
	for i := 0; i < len(name) && len(key) <= maxKeyLen; i++ {
		switch c := name[i]; {
		case c == '_' || c == '-' || c == ' ':
		case c >= 'A' && c <= 'Z':
			key = append(key, c+'a'-'A')
		default:
			key = append(key, c)
		}
	}
	return key
}

// keyOf returns the form in which names are compared.
func keyOf(name string) string { return string(appendKey(nil, name)) }

// kindOf looks up the kind of a tool's name.
func kindOf(name string) (toolKind, bool) {
	var buf [maxKeyLen + 1]byte
	kind, ok := toolKinds()[string(appendKey(buf[:0], name))]
	return kind, ok
}

// resourceToolOf returns the server tool's name for a tool that reads resources; empty for other
// tools.
func resourceToolOf(name string) string {
	var buf [maxKeyLen + 1]byte
	return resourceTools[string(appendKey(buf[:0], name))]
}
