package events

// The standard events. Agents may emit any other valid name too.
const (
	SessionStart  = "session:start"
	SessionEnd    = "session:end"
	SessionFork   = "session:fork"
	SessionResume = "session:resume"

	PromptSubmit   = "prompt:submit"
	PromptComplete = "prompt:complete"

	ExecutionStart = "execution:start"
	ExecutionEnd   = "execution:end" // alias execution:complete

	PlanStart = "plan:start"
	PlanEnd   = "plan:end"

	ToolPre   = "tool:pre"
	ToolPost  = "tool:post"
	ToolError = "tool:error" // alias error:tool

	ProviderRequest              = "provider:request"
	ProviderResponse             = "provider:response"
	ProviderResolve              = "provider:resolve"
	ProviderRetry                = "provider:retry"
	ProviderThrottle             = "provider:throttle"
	ProviderError                = "provider:error" // alias error:provider
	ProviderToolSequenceRepaired = "provider:tool_sequence_repaired"

	LLMRequest  = "llm:request"
	LLMResponse = "llm:response"

	ContentBlockStart = "content_block:start"
	ContentBlockDelta = "content_block:delta"
	ContentBlockEnd   = "content_block:end"
	ThinkingDelta     = "thinking:delta"
	ThinkingFinal     = "thinking:final"

	ContextPreCompact  = "context:pre_compact" // alias context:pre-compact
	ContextPostCompact = "context:post_compact"
	ContextCompaction  = "context:compaction"
	ContextInclude     = "context:include"

	OrchestratorComplete = "orchestrator:complete"

	AgentSpawn    = "agent:spawn"
	AgentComplete = "agent:complete"

	ArtifactRead  = "artifact:read"
	ArtifactWrite = "artifact:write"

	UserNotification = "user:notification"

	ApprovalRequired = "approval:required"
	ApprovalGranted  = "approval:granted"
	ApprovalDenied   = "approval:denied"

	DecisionToolResolution    = "decision:tool_resolution"
	DecisionAgentResolution   = "decision:agent_resolution"
	DecisionContextResolution = "decision:context_resolution"

	PolicyViolation = "policy:violation"

	CancelRequested = "cancel:requested"
	CancelCompleted = "cancel:completed"

	ErrorOrchestration         = "error:orchestration"
	ModuleOnSessionReadyFailed = "module:on_session_ready_failed"
	ModuleLoadFailed           = "module:load_failed"
)
