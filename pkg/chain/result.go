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

// DefaultApprovalTimeout is how long to wait for a person, in seconds, if the hook does not say.
const DefaultApprovalTimeout = 300.0

// MaxApprovalKey bounds [Result.ApprovalKey], in bytes.
const MaxApprovalKey = 1 << 10

// Result is a hook's answer, and what a chain adds up to: the HookResult of the specification.
// The zero Result means continue; every field's zero value is the specification's default.
type Result struct {
	// Action is what to do; empty means continue.
	Action Action
	// Data is the event data to go on with, a JSON object; nil for none. Of a
	// hook's results only modify makes it the data of the chain.
	Data json.RawMessage
	// Reason explains a denial or a change; the agent is shown it.
	Reason string

	// ContextInjection is the text that inject_context adds to the agent's context.
	ContextInjection string
	// ContextInjectionRole is the author of that message; empty means system.
	ContextInjectionRole Role
	// Ephemeral marks an injection for the next model call only.
	Ephemeral bool
	// AppendToLastToolResult puts an ephemeral injection at the end of the last
	// tool result instead of into a message of its own.
	AppendToLastToolResult bool
	// ContextInjections are the injections of a chain, each with its own role and lifetime, in
	// execution order; ContextInjection has their joined texts. Routers set the list, and omit
	// it beyond 64 KiB of text. It is ignored in a hook's result.
	ContextInjections []ContextInjection

	// ApprovalPrompt is what a person is asked.
	ApprovalPrompt string
	// ApprovalOptions are the answers offered; nil means Allow and Deny.
	ApprovalOptions []string
	// ApprovalTimeout is how long to wait for an answer, in seconds; nil means
	// [DefaultApprovalTimeout].
	ApprovalTimeout *float64
	// ApprovalDefault applies when nobody answers: deny, or [Allow]; empty means deny.
	ApprovalDefault Action
	// ApprovalKey says what an "Allow always" covers besides the hook, the prompt and the tool,
	// instead of the tool's input; at most [MaxApprovalKey] bytes. It applies if the connection
	// proves the sender of the event. Empty means the tool's input.
	ApprovalKey string

	// Labels are added to the labels of the event's session, which only grow. See
	// [events.CheckLabel] for their names.
	Labels []string
	// Unlabel are labels that the session loses if a person allows what [AskUser] asks. It is
	// valid with that action only.
	Unlabel []string

	// Rule names the rule that decided, for the operator: its file and line, a space, and its
	// name, such as "worker.yaml:12 cel.rules[1]". It travels beside the JSON form, is recorded
	// with the call and never shown to the agent. It is empty if the hook does not say; see
	// [CleanRule] for what is kept of it.
	Rule string
	// Policy names the version of the policy that the hook answered by, such as "production@7
	// sha256:…". It travels and is kept like Rule, also if the hook failed. It is empty if the
	// hook belongs to no signed policy; see [CleanPolicy] for what is kept of it.
	Policy string

	// SuppressOutput hides the hook's own output from the transcript.
	SuppressOutput bool
	// UserMessage is shown to the user.
	UserMessage string
	// UserMessageLevel is how urgent it is; empty means info.
	UserMessageLevel Level
	// UserMessageSource is the hook's name for the source of the message, such as the program
	// that it ran. It is shown beside the hook's name and never instead of it.
	UserMessageSource string

	// Blank says which empty texts the hook gave as "". The others are null, or were omitted.
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

// Allow is the other value of [Result.ApprovalDefault], besides [Deny]. It is not an action of a
// hook.
const Allow Action = "allow"

// Denied reports whether the result forbids the operation.
func (r Result) Denied() bool { return r.Action == Deny }

// MarshalJSON writes the result as protocol.md defines it: action always, other fields only if
// they differ from their default, data byte for byte. Rule and Policy are headers on the wire
// and not among them.
func (r Result) MarshalJSON() ([]byte, error) { return r.Append(nil), nil }

// UnmarshalJSON reads a result with [ParseResult].
func (r *Result) UnmarshalJSON(b []byte) error {
	parsed, err := ParseResult(b)
	if err == nil {
		*r = parsed
	}
	return err
}

// Append appends the JSON text of the result to buf.
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

// write writes a text unless it is empty and not in Blank.
func (r Result) write(w *events.ObjectWriter, name, value string, one Blank) {
	if value != "" || r.Blank&one != 0 {
		w.String(name, value)
	}
}
