package chain

import (
	"cmp"
	"encoding/json"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Action is what a hook decides.
type Action string

// The five actions. The zero Action means [Continue].
const (
	Continue      Action = "continue"
	Deny          Action = "deny"
	Modify        Action = "modify"
	InjectContext Action = "inject_context"
	AskUser       Action = "ask_user"
)

// Role is the author of an injected message.
type Role string

// The roles. The zero Role means [RoleSystem].
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Level is the urgency of a message to the user.
type Level string

// The levels. The zero Level means [LevelInfo].
const (
	LevelInfo    Level = "info"
	LevelWarning Level = "warning"
	LevelError   Level = "error"
)

// DefaultApprovalTimeout is the default time to answer an approval request, in seconds.
const DefaultApprovalTimeout = 300.0

// Result is the answer of a hook or the sum of a chain: the HookResult of the specification. The
// zero Result means continue; the zero value of each field is the specification's default.
type Result struct {
	// Action is the decision; empty means continue.
	Action Action
	// Data is the event data to continue with, a JSON object; nil for none. Among hooks'
	// results only that of modify replaces the chain's data.
	Data json.RawMessage
	// Reason explains a denial or a change. The agent sees it.
	Reason string

	// ContextInjection is the text that inject_context adds to the agent's context.
	ContextInjection string
	// ContextInjectionRole is the role of the injected message; empty means system.
	ContextInjectionRole Role
	// Ephemeral limits the injection to the next model call.
	Ephemeral bool
	// AppendToLastToolResult appends an ephemeral injection to the last tool result instead of
	// adding a message.
	AppendToLastToolResult bool
	// ContextInjections are the injections of a chain in execution order, each with its own role
	// and lifetime; ContextInjection holds their joined texts. Routers set it, unless the text
	// exceeds 64 KiB. It is ignored in a hook's result.
	ContextInjections []ContextInjection

	// ApprovalPrompt is the question to a person.
	ApprovalPrompt string
	// ApprovalOptions are the options offered; nil means Allow and Deny.
	ApprovalOptions []string
	// ApprovalTimeout is the time to answer in seconds; nil means [DefaultApprovalTimeout].
	ApprovalTimeout *float64
	// ApprovalDefault applies if nobody answers: [Deny] or [Allow]; empty means deny.
	ApprovalDefault Action
	// ApprovalKey replaces the tool's input in what an "Allow always" covers: the hook, the prompt,
	// the tool and its input. It applies only if the connection proves the sender of the event.
	// Empty means the tool's input.
	ApprovalKey string

	// Labels are added to the labels of the event's session. See [events.CheckLabel] for valid
	// names.
	Labels []string
	// Unlabel lists labels to remove from the session if a person allows the question of [AskUser].
	// It is valid with that action only.
	Unlabel []string

	// Rule names the rule that decided, for the operator: its file and line, a space, and its name,
	// as in "worker.yaml:12 cel.rules[1]". It is not part of the JSON form. It is recorded with the
	// call and never shown to the agent. It is empty if the hook does not set it; see [CleanRule]
	// for its limits.
	Rule string
	// Policy names the version of the policy that the hook applied, as in "production@7 sha256:…".
	// It is sent and recorded like Rule, even if the hook failed. It is empty if the hook does not
	// belong to a signed policy; see [CleanPolicy] for its limits.
	Policy string

	// SuppressOutput hides the hook's own output from the transcript.
	SuppressOutput bool
	// UserMessage is shown to the user.
	UserMessage string
	// UserMessageLevel is the urgency of UserMessage; empty means info.
	UserMessageLevel Level
	// UserMessageSource is the hook's name for the source of UserMessage, such as the program that
	// it ran. It is shown next to the hook's name and never instead of it.
	UserMessageSource string

	// Blank says which empty texts the hook gave as "". The others were null or omitted.
	Blank Blank
}

// Blank is a set of texts of a [Result].
type Blank uint8

// The texts whose default is null.
const (
	BlankReason Blank = 1 << iota
	BlankContextInjection
	BlankApprovalPrompt
	BlankUserMessage
)

// Allow is a value of [Result.ApprovalDefault]. It is not an action of a hook.
const Allow Action = "allow"

// Denied reports whether the result forbids the operation.
func (r Result) Denied() bool { return r.Action == Deny }

// MarshalJSON encodes the result as the protocol defines: action always, other fields only if they
// are not the default, data byte for byte. Rule and Policy are headers on the wire and are not
// included.
func (r Result) MarshalJSON() ([]byte, error) { return r.Append(nil), nil }

// UnmarshalJSON decodes a result with [ParseResult].
func (r *Result) UnmarshalJSON(b []byte) error {
	parsed, err := ParseResult(b)
	if err == nil {
		*r = parsed
	}
	return err
}

// Append appends the result to buf as JSON.
func (r Result) Append(buf []byte) []byte {
	w := events.NewObjectWriter(buf)
	action := cmp.Or(r.Action, Continue)
	w.Text("action", string(action))
	if r.Data != nil {
		w.Raw("data", r.Data)
	}
	r.write(&w, "reason", r.Reason, BlankReason)
	r.write(&w, "context_injection", r.ContextInjection, BlankContextInjection)
	w.Text("context_injection_role", string(r.ContextInjectionRole))
	w.Flag("ephemeral", r.Ephemeral)
	w.Flag("append_to_last_tool_result", r.AppendToLastToolResult)
	if list := r.ContextInjections; len(list) > 0 {
		w.Objects("context_injections", len(list), func(i int, w *events.ObjectWriter) { list[i].Write(w) })
	}
	r.write(&w, "approval_prompt", r.ApprovalPrompt, BlankApprovalPrompt)
	if r.ApprovalOptions != nil {
		w.Texts("approval_options", r.ApprovalOptions)
	}
	if r.ApprovalTimeout != nil {
		w.Number("approval_timeout", *r.ApprovalTimeout)
	}
	w.Text("approval_default", string(r.ApprovalDefault))
	w.Text("approval_key", r.ApprovalKey)
	w.Flag("suppress_output", r.SuppressOutput)
	r.write(&w, "user_message", r.UserMessage, BlankUserMessage)
	w.Text("user_message_level", string(r.UserMessageLevel))
	w.Text("user_message_source", r.UserMessageSource)
	if len(r.Labels) > 0 {
		w.Texts("labels", r.Labels)
	}
	if len(r.Unlabel) > 0 {
		w.Texts("unlabel", r.Unlabel)
	}
	return w.End()
}

// write writes a text unless it is empty and its bit in Blank is not set.
func (r Result) write(w *events.ObjectWriter, name, value string, one Blank) {
	if value != "" || r.Blank&one != 0 {
		w.String(name, value)
	}
}
