package events

import (
	"slices"
	"strings"
)

// Info describes one standard event.
type Info struct {
	Name    string   // the canonical name
	Aliases []string // other names of the same event; nil for none
	Summary string   // when it happens, in one sentence
	Fields  []Field  // members of its data; session_id first, timestamp last
}

// Field describes one member of an event's data. Names of nested members have dots:
// "stats.total_tokens".
type Field struct {
	Name        string
	Type        FieldType
	Description string
	Values      []string // the values that the specification lists; nil means any
}

// FieldType is the JSON type of a field.
type FieldType string

// The types of fields.
const (
	TypeString  FieldType = "string"
	TypeInteger FieldType = "integer"
	TypeBoolean FieldType = "boolean"
	TypeObject  FieldType = "object"
	TypeStrings FieldType = "array of strings"
)

// Catalog returns the standard events in alphabetical order. The caller may modify the result. The
// data of an event with no Fields but session_id and timestamp is free-form.
func Catalog() []Info {
	list := slices.Concat(sessionEvents(), toolEvents(), modelEvents(), agentEvents(), routerEvents())
	for i := range list {
		info := &list[i]
		if s := Spellings(info.Name); len(s) > 1 {
			info.Aliases = slices.Clone(s[1:])
		}
		info.Fields = slices.Concat(
			[]Field{{Name: "session_id", Type: TypeString, Description: "The session the event belongs to"}},
			info.Fields,
			[]Field{{Name: "timestamp", Type: TypeString, Description: "RFC 3339 in UTC, stamped by the router"}},
		)
	}
	slices.SortFunc(list, func(a, b Info) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func sessionEvents() []Info {
	return []Info{
		{Name: SessionStart, Summary: "A session begins or resumes.", Fields: []Field{
			{Name: "mount_plan", Type: TypeObject, Description: "The complete mount plan"},
			{Name: "source", Type: TypeString, Description: "Why it starts", Values: []string{"startup", "resume", "compact"}},
		}},
		{Name: SessionEnd, Summary: "A session ends: completed, left by the user, or failed.", Fields: []Field{
			{Name: "reason", Type: TypeString, Description: "Why it ended", Values: []string{"complete", "user_exit", "error", "timeout"}},
			duration("Of the whole session"),
			{Name: "stats", Type: TypeObject, Description: "Session statistics"},
			{Name: "stats.total_messages", Type: TypeInteger, Description: "Messages of all roles"},
			{Name: "stats.tool_invocations", Type: TypeInteger, Description: "Calls of tools"},
			{Name: "stats.total_tokens", Type: TypeInteger, Description: "Tokens read and written by the model"},
		}},
		{Name: SessionFork, Summary: "A session has been forked."},
		{Name: SessionResume, Summary: "A session has been resumed."},
		{Name: PromptSubmit, Summary: "The user submits a prompt, before the agent processes it.", Fields: []Field{
			{Name: "prompt", Type: TypeString, Description: "The user's text"},
			{Name: "metadata", Type: TypeObject, Description: "Optional metadata of the prompt"},
		}},
		{Name: PromptComplete, Summary: "A prompt has been processed."},
		{Name: ExecutionStart, Summary: "The orchestrator begins to execute a turn."},
		{Name: ExecutionEnd, Summary: "The orchestrator has executed a turn."},
		{Name: PlanStart, Summary: "The orchestrator begins to plan."},
		{Name: PlanEnd, Summary: "The orchestrator has a plan."},
		{Name: OrchestratorComplete, Summary: "The main orchestrator is done: the agent gave its final response.", Fields: []Field{
			{Name: "orchestrator", Type: TypeString, Description: "The orchestrator's type: loop-basic, loop-streaming …"},
			{Name: "final_message", Type: TypeObject, Description: "The last assistant message"},
			{Name: "turn_count", Type: TypeInteger, Description: "Turns of the conversation"},
			duration("Of the orchestration"),
			status(),
		}},
		{Name: ContextPreCompact, Summary: "The context is about to be compacted.", Fields: []Field{
			{Name: "trigger", Type: TypeString, Description: "Who asked for it", Values: []string{"auto", "manual"}},
			{Name: "current_tokens", Type: TypeInteger, Description: "Tokens before"},
			{Name: "target_tokens", Type: TypeInteger, Description: "Tokens after"},
			{Name: "messages_count", Type: TypeInteger, Description: "Messages in the context"},
		}},
		{Name: ContextPostCompact, Summary: "The context has been compacted."},
		{Name: ContextCompaction, Summary: "The context is compacted."},
		{Name: ContextInclude, Summary: "Something has been added to the context."},
		{Name: CancelRequested, Summary: "Somebody asked to cancel, gracefully or at once."},
		{Name: CancelCompleted, Summary: "The cancellation is done; the session stops."},
	}
}

func toolEvents() []Info {
	return []Info{
		{Name: ToolPre, Summary: "A tool is about to run; a hook may stop it.", Fields: []Field{
			{Name: "tool_name", Type: TypeString, Description: "The tool"},
			{Name: "tool_input", Type: TypeObject, Description: "The tool's parameters"},
		}},
		{Name: ToolPost, Summary: "A tool has run.", Fields: []Field{
			{Name: "tool_name", Type: TypeString, Description: "The tool"},
			{Name: "tool_input", Type: TypeObject, Description: "The parameters it ran with"},
			{Name: "tool_result", Type: TypeObject, Description: "What it returned"},
			{Name: "success", Type: TypeBoolean, Description: "Whether it succeeded"},
			duration("Of the tool"),
		}},
		{Name: ToolError, Summary: "A tool failed.", Fields: []Field{
			{Name: "tool_name", Type: TypeString, Description: "The tool"},
			{Name: "error", Type: TypeObject, Description: "What went wrong"},
		}},
		{Name: ArtifactRead, Summary: "An artifact has been read."},
		{Name: ArtifactWrite, Summary: "An artifact has been written."},
		{Name: DecisionToolResolution, Summary: "The orchestrator chose a tool.", Fields: []Field{
			{Name: "available_tools", Type: TypeStrings, Description: "The tools to choose from"},
			{Name: "selected_tool", Type: TypeString, Description: "The tool chosen"},
			{Name: "reason", Type: TypeString, Description: "Why this tool"},
		}},
	}
}

func modelEvents() []Info {
	return []Info{
		{Name: ProviderRequest, Summary: "A request goes to a provider."},
		{Name: ProviderResponse, Summary: "A provider answered."},
		{Name: ProviderResolve, Summary: "A provider has been chosen."},
		{Name: ProviderRetry, Summary: "A call of a provider is tried again."},
		{Name: ProviderThrottle, Summary: "A provider limits the rate of calls."},
		{Name: ProviderError, Summary: "A call of a provider failed.", Fields: []Field{
			{Name: "provider", Type: TypeString, Description: "The provider"},
			{Name: "error", Type: TypeObject, Description: "What went wrong"},
		}},
		{Name: ProviderToolSequenceRepaired, Summary: "A provider repaired a malformed sequence of tool calls."},
		{Name: LLMRequest, Summary: "A request goes to a model."},
		{Name: LLMResponse, Summary: "A model answered."},
		{Name: ContentBlockStart, Summary: "A block of content begins to stream."},
		{Name: ContentBlockDelta, Summary: "The next piece of a block of content."},
		{Name: ContentBlockEnd, Summary: "A block of content is complete."},
		{Name: ThinkingDelta, Summary: "The next piece of the model's thinking."},
		{Name: ThinkingFinal, Summary: "The model's thinking is complete."},
	}
}

func agentEvents() []Info {
	return []Info{
		{Name: AgentSpawn, Summary: "A sub-agent is about to start.", Fields: []Field{
			{Name: "parent_session_id", Type: TypeString, Description: "The session that spawned it"},
			{Name: "agent_name", Type: TypeString, Description: "The sub-agent"},
			{Name: "task", Type: TypeString, Description: "What it shall do"},
			{Name: "config_override", Type: TypeObject, Description: "Settings of this agent"},
		}},
		{Name: AgentComplete, Summary: "A sub-agent is done.", Fields: []Field{
			{Name: "parent_session_id", Type: TypeString, Description: "The session that spawned it"},
			{Name: "agent_name", Type: TypeString, Description: "The sub-agent"},
			{Name: "task", Type: TypeString, Description: "What it should do"},
			{Name: "result", Type: TypeObject, Description: "What it returned"},
			duration("Of the sub-agent"),
			status(),
		}},
		{Name: DecisionAgentResolution, Summary: "The orchestrator hands a task to another agent.", Fields: []Field{
			{Name: "agent_name", Type: TypeString, Description: "The agent chosen"},
			{Name: "reason", Type: TypeString, Description: "Why it is handed over"},
		}},
		{Name: DecisionContextResolution, Summary: "The orchestrator chose how to manage the context.", Fields: []Field{
			{Name: "strategy", Type: TypeString, Description: "The strategy chosen"},
			{Name: "reason", Type: TypeString, Description: "Why this strategy"},
		}},
		{Name: ErrorOrchestration, Summary: "The orchestrator itself failed.", Fields: []Field{
			{Name: "error", Type: TypeObject, Description: "What went wrong"},
		}},
		{Name: ModuleOnSessionReadyFailed, Summary: "A module failed while the session was made ready.", Fields: []Field{
			{Name: "module_id", Type: TypeString, Description: "The module"},
			{Name: "error", Type: TypeString, Description: "What went wrong"},
		}},
		{Name: ModuleLoadFailed, Summary: "A module of the agent, or the policy of a worker, could not be loaded.", Fields: []Field{
			{Name: "module_type", Type: TypeString, Description: "provider, tool, hook or policy"},
			{Name: "module_id", Type: TypeString, Description: "The module, or the name of the policy's file"},
			{Name: "error", Type: TypeString, Description: "What went wrong"},
			{Name: "reason_code", Type: TypeString, Description: "A category, such as missing_source, invalid or unknown"},
			{Name: "instance_id", Type: TypeString, Description: "Which of several instances of the module"},
		}},
	}
}

func routerEvents() []Info {
	return []Info{
		{Name: UserNotification, Summary: "The user is needed, or should know something.", Fields: []Field{
			{
				Name: "notification_type", Type: TypeString, Description: "What it is about",
				Values: []string{"awaiting_input", "approval_required", "error", "alert"},
			},
			{Name: "message", Type: TypeString, Description: "The text for the user"},
			{Name: "metadata", Type: TypeObject, Description: "More about it"},
		}},
		{Name: ApprovalRequired, Summary: "A hook asks a person for approval."},
		{Name: ApprovalGranted, Summary: "An approval has been granted."},
		{Name: ApprovalDenied, Summary: "An approval has been denied."},
		{Name: PolicyViolation, Summary: "A policy has been violated."},
	}
}

func duration(of string) Field {
	return Field{Name: "duration_ms", Type: TypeInteger, Description: of + ", in milliseconds"}
}

func status() Field {
	return Field{Name: "status", Type: TypeString, Description: "How it ended", Values: []string{"success", "error", "interrupted"}}
}
