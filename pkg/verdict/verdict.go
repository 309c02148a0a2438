package verdict

import (
	"encoding/json"

	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Action is what an agent must do.
type Action string

// The three actions of a verdict. There is no zero action: a verdict without an action is no
// permission.
const (
	Continue Action = "continue" // go on, with Data if there is any
	Deny     Action = "deny"     // do not go on
	Pending  Action = "pending"  // a person is being asked; send the event again
)

// Verdict is the answer to hooks.execute.<event>.
type Verdict struct {
	Action      Action
	Reason      string
	BlankReason bool            // an empty Reason was given as "", and is not null
	Data        json.RawMessage // byte for byte; nil for none
	Messages    []Message       // for the agent's context
	// ContextInjections are the injections behind Messages, each with its own role and lifetime,
	// in execution order: see [Verdict.ContextMessages].
	ContextInjections []chain.ContextInjection

	Display        []Display // for its user, in execution order
	SuppressOutput []string  // names of hooks whose own output is to be hidden
	Warnings       []Warning // what was dropped or cleaned, in execution order
	InjectedTokens int       // tokens that the turn has used after this event
	Approval       *Approval // set if a person was asked

	// Injected are the injections behind Messages, in execution order. The wire does not carry
	// them.
	Injected []Injected
	// Dropped are the injections that were not delivered. The wire carries warnings instead.
	Dropped []Injected
}

// ContextMessages are the messages for the agent's context, one for each injection, with the
// role and the lifetime that its hook gave it. They replace Messages, which has the same texts
// as one message: apply either. From a router that does not list injections they are Messages.
func (v Verdict) ContextMessages() []Message {
	if len(v.ContextInjections) == 0 {
		return v.Messages
	}
	var timestamp string
	if len(v.Messages) > 0 {
		timestamp = v.Messages[0].Metadata.Timestamp
	}
	list := make([]Message, len(v.ContextInjections))
	for i, one := range v.ContextInjections {
		list[i] = Message{
			Role: one.Role, Content: one.Content, Ephemeral: one.Ephemeral, AppendToLastToolResult: one.AppendToLastToolResult,
			Metadata: Metadata{Source: "hook", HookName: one.HookName, HookID: one.HookID, Event: one.Event, Timestamp: timestamp},
		}
	}
	return list
}

// Injected is one injection and its fate.
type Injected struct {
	HookID, Hook  string // the hook's id and name
	Bytes, Tokens int    // counted against the limits
	Cleaned       int    // characters that were removed from it
	Dropped       string // [Oversize] or [Budget]; empty if it was delivered
}

// Message is text from hooks for the agent's context.
type Message struct {
	Role    chain.Role `json:"role"`
	Content string     `json:"content"`
	// Ephemeral messages are for the next model call only and never stored.
	Ephemeral bool `json:"ephemeral,omitempty"`
	// AppendToLastToolResult appends an ephemeral message to the last message, if that is a
	// tool's result.
	AppendToLastToolResult bool     `json:"append_to_last_tool_result,omitempty"`
	Metadata               Metadata `json:"metadata"`
}

// Metadata says where a message comes from.
type Metadata struct {
	Source    string `json:"source,omitempty"`    // always "hook"
	HookName  string `json:"hook_name,omitempty"` // "composite" for several
	HookID    string `json:"hook_id,omitempty"`   // empty for several
	Event     string `json:"event,omitempty"`
	Timestamp string `json:"timestamp,omitempty"` // RFC 3339, UTC
}

// Display is a message of one hook to the user. Its text is the hook's own: whoever shows it
// must make it safe for its place.
type Display struct {
	Message string      `json:"message"`
	Level   chain.Level `json:"level"`            // info, warning or error
	Source  string      `json:"source,omitempty"` // "hook:" and the hook's name
	HookID  string      `json:"hook_id,omitempty"`
	// UserMessageSource is the hook's claim about the source of the message. Show it beside
	// Source, not instead of it.
	UserMessageSource string `json:"user_message_source,omitempty"`
}

// From names the sender for the user: the Source and, in brackets, the hook's claim. It is
// foreign text like Message.
func (d Display) From() string {
	if d.UserMessageSource == "" {
		return d.Source
	}
	return d.Source + " (" + d.UserMessageSource + ")"
}

// The kinds of warnings.
const (
	Oversize   = "oversize"   // an injection was dropped: larger than the limit
	Budget     = "budget"     // an injection was dropped: beyond the turn's budget
	Overridden = "overridden" // an injection was dropped: the event was denied, or a person is asked
	Sanitized  = "sanitized"  // characters that deceive were removed from an injection, before it was measured
)

// Warning says what the router did to a hook's injection.
type Warning struct {
	Kind   string `json:"kind"`
	Hook   string `json:"hook,omitempty"` // its name
	Detail string `json:"detail,omitempty"`
}

// Approval is the outcome of the approval request.
type Approval struct {
	ID         string   `json:"id,omitempty"`
	Hook       string   `json:"hook,omitempty"` // its name
	Prompt     string   `json:"prompt,omitempty"`
	Options    []string `json:"options,omitempty"`
	Option     string   `json:"option,omitempty"` // the answer; empty if none was given
	DecidedBy  string   `json:"decided_by,omitempty"`
	Cached     bool     `json:"cached,omitempty"` // an earlier "Allow always" answered
	TimedOut   bool     `json:"timed_out,omitempty"`
	Expires    string   `json:"expires,omitempty"`     // RFC 3339, UTC
	DataSHA256 string   `json:"data_sha256,omitempty"` // of the data that was approved, in hex
}
