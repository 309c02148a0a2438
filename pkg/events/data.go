package events

import (
	"encoding/json"
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"
)

// The types of this file are the data of the standard events that have a schema; [Event.Decode]
// fills them. A member that the sender omitted has the zero value, and hooks must not rely on any
// member. Free-form objects are raw JSON, so that integers keep all digits. Timestamps are RFC 3339
// in UTC. The router sets them, to the same value for the whole chain.

// SessionStartData is the data of [SessionStart]: a session begins or resumes.
type SessionStartData struct {
	SessionID string          `json:"session_id,omitempty"`
	MountPlan json.RawMessage `json:"mount_plan,omitempty"` // the complete mount plan, an object
	Source    string          `json:"source,omitempty"`     // startup, resume or compact
	Timestamp string          `json:"timestamp,omitempty"`
}

// SessionEndData is the data of [SessionEnd]: a session was completed, ended by the user, or
// failed.
type SessionEndData struct {
	SessionID  string       `json:"session_id,omitempty"`
	Reason     string       `json:"reason,omitempty"` // complete, user_exit, error or timeout
	DurationMS int64        `json:"duration_ms"`      // of the whole session, in milliseconds
	Stats      SessionStats `json:"stats"`
	Timestamp  string       `json:"timestamp,omitempty"`
}

// SessionStats counts what happened in a session.
type SessionStats struct {
	TotalMessages   int64 `json:"total_messages"`   // of all roles
	ToolInvocations int64 `json:"tool_invocations"` // including failed ones
	TotalTokens     int64 `json:"total_tokens"`     // input and output of the model
}

// PromptSubmitData is the data of [PromptSubmit]: the user sent a prompt that the agent has not
// processed yet.
type PromptSubmitData struct {
	SessionID string          `json:"session_id,omitempty"`
	Prompt    string          `json:"prompt"`             // the user's text
	Metadata  json.RawMessage `json:"metadata,omitempty"` // an object, optional
	Timestamp string          `json:"timestamp,omitempty"`
}

// ToolPreData is the data of [ToolPre]: a tool is about to run, and can be stopped.
type ToolPreData struct {
	SessionID string          `json:"session_id,omitempty"`
	ToolName  string          `json:"tool_name"`
	ToolInput json.RawMessage `json:"tool_input,omitempty"` // the tool's parameters, an object
	Timestamp string          `json:"timestamp,omitempty"`
}

// DecodeInput decodes the tool's parameters into v, a pointer to a struct with json tags, as
// [Event.Decode] does. Without parameters it leaves v unchanged.
func (d *ToolPreData) DecodeInput(v any) error { return decodeInput(d.ToolName, d.ToolInput, v) }

// ToolPostData is the data of [ToolPost]: a tool has run.
type ToolPostData struct {
	SessionID  string          `json:"session_id,omitempty"`
	ToolName   string          `json:"tool_name"`
	ToolInput  json.RawMessage `json:"tool_input,omitempty"`  // the parameters it ran with, an object
	ToolResult json.RawMessage `json:"tool_result,omitempty"` // an object
	Success    bool            `json:"success"`
	DurationMS int64           `json:"duration_ms"` // of the tool, in milliseconds
	Timestamp  string          `json:"timestamp,omitempty"`
}

// DecodeInput decodes the tool's parameters into v, as [ToolPreData.DecodeInput] does.
func (d *ToolPostData) DecodeInput(v any) error { return decodeInput(d.ToolName, d.ToolInput, v) }

func decodeInput(tool string, input json.RawMessage, v any) error {
	if len(input) == 0 {
		return nil
	}
	if err := jsonv2.Unmarshal(input, v); err != nil {
		return fmt.Errorf("decode tool_input of %s: %w", clip(tool), err)
	}
	return nil
}

// ToolErrorData is the data of [ToolError]: a tool failed.
type ToolErrorData struct {
	SessionID string          `json:"session_id,omitempty"`
	ToolName  string          `json:"tool_name"`
	Error     json.RawMessage `json:"error,omitempty"` // what went wrong, an object
	Timestamp string          `json:"timestamp,omitempty"`
}

// ProviderErrorData is the data of [ProviderError]: a call of a model failed.
type ProviderErrorData struct {
	SessionID string          `json:"session_id,omitempty"`
	Provider  string          `json:"provider"`
	Error     json.RawMessage `json:"error,omitempty"` // what went wrong, an object
	Timestamp string          `json:"timestamp,omitempty"`
}

// ErrorOrchestrationData is the data of [ErrorOrchestration]: the orchestrator
// itself failed.
type ErrorOrchestrationData struct {
	SessionID string          `json:"session_id,omitempty"`
	Error     json.RawMessage `json:"error,omitempty"` // what went wrong, an object
	Timestamp string          `json:"timestamp,omitempty"`
}

// OrchestratorCompleteData is the data of [OrchestratorComplete]: the agent gave
// its final response.
type OrchestratorCompleteData struct {
	SessionID    string          `json:"session_id,omitempty"`
	Orchestrator string          `json:"orchestrator"`            // its type, such as loop-basic or loop-streaming
	FinalMessage json.RawMessage `json:"final_message,omitempty"` // the last assistant message, an object
	TurnCount    int64           `json:"turn_count"`              // turns of the conversation
	DurationMS   int64           `json:"duration_ms"`             // in milliseconds
	Status       string          `json:"status"`                  // success, error or interrupted
	Timestamp    string          `json:"timestamp,omitempty"`
}

// AgentSpawnData is the data of [AgentSpawn]: a sub-agent is about to start.
type AgentSpawnData struct {
	SessionID       string          `json:"session_id,omitempty"` // of the sub-agent
	ParentSessionID string          `json:"parent_session_id"`
	AgentName       string          `json:"agent_name"`
	Task            string          `json:"task"`                      // what the sub-agent is to do
	ConfigOverride  json.RawMessage `json:"config_override,omitempty"` // settings for this sub-agent, an object
	Timestamp       string          `json:"timestamp,omitempty"`
}

// AgentCompleteData is the data of [AgentComplete]: a sub-agent ended.
type AgentCompleteData struct {
	SessionID       string          `json:"session_id,omitempty"` // of the sub-agent
	ParentSessionID string          `json:"parent_session_id"`
	AgentName       string          `json:"agent_name"`
	Task            string          `json:"task"`
	Result          json.RawMessage `json:"result,omitempty"` // an object
	DurationMS      int64           `json:"duration_ms"`      // in milliseconds
	Status          string          `json:"status"`           // success, error or interrupted
	Timestamp       string          `json:"timestamp,omitempty"`
}

// ContextPreCompactData is the data of [ContextPreCompact]: the conversation is
// about to be shortened.
type ContextPreCompactData struct {
	SessionID     string `json:"session_id,omitempty"`
	Trigger       string `json:"trigger"`        // auto or manual
	CurrentTokens int64  `json:"current_tokens"` // before
	TargetTokens  int64  `json:"target_tokens"`  // after
	MessagesCount int64  `json:"messages_count"` // messages in the context
	Timestamp     string `json:"timestamp,omitempty"`
}

// UserNotificationData is the data of [UserNotification]: the user's attention is needed.
type UserNotificationData struct {
	SessionID        string          `json:"session_id,omitempty"`
	NotificationType string          `json:"notification_type"` // awaiting_input, approval_required, error or alert
	Message          string          `json:"message"`
	Metadata         json.RawMessage `json:"metadata,omitempty"` // details, an object
	Timestamp        string          `json:"timestamp,omitempty"`
}

// DecisionToolResolutionData is the data of [DecisionToolResolution]: the
// orchestrator chose a tool.
type DecisionToolResolutionData struct {
	SessionID      string   `json:"session_id,omitempty"`
	AvailableTools []string `json:"available_tools"`
	SelectedTool   string   `json:"selected_tool"`
	Reason         string   `json:"reason"` // why this tool
	Timestamp      string   `json:"timestamp,omitempty"`
}

// DecisionAgentResolutionData is the data of [DecisionAgentResolution]: the orchestrator delegates
// a task to another agent.
type DecisionAgentResolutionData struct {
	SessionID string `json:"session_id,omitempty"`
	AgentName string `json:"agent_name"`
	Reason    string `json:"reason"` // why it delegates
	Timestamp string `json:"timestamp,omitempty"`
}

// DecisionContextResolutionData is the data of [DecisionContextResolution]: the
// orchestrator chose how to manage the context.
type DecisionContextResolutionData struct {
	SessionID string `json:"session_id,omitempty"`
	Strategy  string `json:"strategy"`
	Reason    string `json:"reason"`
	Timestamp string `json:"timestamp,omitempty"`
}

// ModuleOnSessionReadyFailedData is the data of [ModuleOnSessionReadyFailed]: a module of the agent
// failed while the session was being prepared.
type ModuleOnSessionReadyFailedData struct {
	SessionID string `json:"session_id,omitempty"`
	ModuleID  string `json:"module_id"`
	Error     string `json:"error"` // what went wrong, for people
	Timestamp string `json:"timestamp,omitempty"`
}

// ModuleLoadFailedData is the data of [ModuleLoadFailed]: a module of an agent, or the policy
// of a worker, could not be loaded.
type ModuleLoadFailedData struct {
	SessionID  string `json:"session_id,omitempty"`
	ModuleType string `json:"module_type"` // provider, tool, hook, or policy
	ModuleID   string `json:"module_id"`
	Error      string `json:"error"`                 // what went wrong, for people
	ReasonCode string `json:"reason_code,omitempty"` // a category, for programs
	InstanceID string `json:"instance_id,omitempty"` // of a module with several instances
	Timestamp  string `json:"timestamp,omitempty"`
}
