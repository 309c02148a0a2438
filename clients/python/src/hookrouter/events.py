"""The standard events. Any other well-formed name may be emitted too."""

from __future__ import annotations

SESSION_START = "session:start"
SESSION_END = "session:end"
SESSION_FORK = "session:fork"
SESSION_RESUME = "session:resume"

PROMPT_SUBMIT = "prompt:submit"
PROMPT_COMPLETE = "prompt:complete"

EXECUTION_START = "execution:start"
EXECUTION_END = "execution:end"

PLAN_START = "plan:start"
PLAN_END = "plan:end"

TOOL_PRE = "tool:pre"
TOOL_POST = "tool:post"
TOOL_ERROR = "tool:error"

PROVIDER_REQUEST = "provider:request"
PROVIDER_RESPONSE = "provider:response"
PROVIDER_RESOLVE = "provider:resolve"
PROVIDER_RETRY = "provider:retry"
PROVIDER_THROTTLE = "provider:throttle"
PROVIDER_ERROR = "provider:error"
PROVIDER_TOOL_SEQUENCE_REPAIRED = "provider:tool_sequence_repaired"

LLM_REQUEST = "llm:request"
LLM_RESPONSE = "llm:response"

CONTENT_BLOCK_START = "content_block:start"
CONTENT_BLOCK_DELTA = "content_block:delta"
CONTENT_BLOCK_END = "content_block:end"
THINKING_DELTA = "thinking:delta"
THINKING_FINAL = "thinking:final"

CONTEXT_PRE_COMPACT = "context:pre_compact"
CONTEXT_POST_COMPACT = "context:post_compact"
CONTEXT_COMPACTION = "context:compaction"
CONTEXT_INCLUDE = "context:include"

ORCHESTRATOR_COMPLETE = "orchestrator:complete"

AGENT_SPAWN = "agent:spawn"
AGENT_COMPLETE = "agent:complete"

ARTIFACT_READ = "artifact:read"
ARTIFACT_WRITE = "artifact:write"

USER_NOTIFICATION = "user:notification"

APPROVAL_REQUIRED = "approval:required"
APPROVAL_GRANTED = "approval:granted"
APPROVAL_DENIED = "approval:denied"

DECISION_TOOL_RESOLUTION = "decision:tool_resolution"
DECISION_AGENT_RESOLUTION = "decision:agent_resolution"
DECISION_CONTEXT_RESOLUTION = "decision:context_resolution"

POLICY_VIOLATION = "policy:violation"

CANCEL_REQUESTED = "cancel:requested"
CANCEL_COMPLETED = "cancel:completed"

ERROR_ORCHESTRATION = "error:orchestration"
MODULE_ON_SESSION_READY_FAILED = "module:on_session_ready_failed"
MODULE_LOAD_FAILED = "module:load_failed"

# Aliases of events above: a hook for either name is called for both.
CONTEXT_PRE_COMPACT_ALIAS = "context:pre-compact"
EXECUTION_COMPLETE = "execution:complete"
ERROR_TOOL = "error:tool"
ERROR_PROVIDER = "error:provider"

ALL_EVENTS: tuple[str, ...] = tuple(
    sorted(value for name, value in list(globals().items()) if name.isupper() and isinstance(value, str))
)
"""All standard events, including aliases."""
