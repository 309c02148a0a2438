package verdict

import (
	"encoding/json"

	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Action is what an agent must do.
type Action string

// The actions of a verdict. The zero Action is not valid and permits nothing.
const (
	Continue Action = "continue" // continue, with Data if there is any
	Deny     Action = "deny"     // do not continue
	Pending  Action = "pending"  // a person is being asked; send the event again
)

// Verdict is the answer to hooks.execute.<event>.
type Verdict struct {
	Action      Action
	Reason      string
	BlankReason bool            // an empty Reason was given as "", not null
	Data        json.RawMessage // byte for byte; nil for none
	Messages    []Message       // for the agent's context
	// ContextInjections are the injections in Messages, each with its own role and lifetime, in
	// execution order: see [Verdict.ContextMessages].
	ContextInjections []chain.ContextInjection

	Display        []Display // for the agent's user, in execution order
	SuppressOutput []string  // names of hooks whose own output to hide
	Warnings       []Warning // about dropped or cleaned injections, in execution order
	InjectedTokens int       // used in this turn, including this event
	Approval       *Approval // set if a person was asked

	// Injected are the injections in Messages, in execution order. It is not sent on the wire.
	Injected []Injected
	// Dropped are the injections that were not delivered. On the wire there are only warnings.
	Dropped []Injected
}

// ContextMessages returns the messages for the agent's context, one for each injection with the
// role and lifetime that its hook set. Use them instead of Messages, which merges the same texts
// into one message. For a router that does not list injections, they are Messages.
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

// Injected describes one injection and whether it was delivered.
type Injected struct {
	HookID, Hook  string // the hook's id and name
	Bytes, Tokens int    // counted against the limits
	Cleaned       int    // number of characters removed by [Clean]
	Dropped       string // [Oversize] or [Budget]; empty if it was delivered
}

// Message is text from hooks for the agent's context.
type Message struct {
	Role    chain.Role `json:"role"`
	Content string     `json:"content"`
	// Ephemeral limits the message to the next model call. It is never stored.
	Ephemeral bool `json:"ephemeral,omitempty"`
	// AppendToLastToolResult appends an ephemeral message to the last message if that is a tool
	// result.
	AppendToLastToolResult bool     `json:"append_to_last_tool_result,omitempty"`
	Metadata               Metadata `json:"metadata"`
}

// Metadata identifies the source of a message.
type Metadata struct {
	Source    string `json:"source,omitempty"`    // always "hook"
	HookName  string `json:"hook_name,omitempty"` // "composite" for several
	HookID    string `json:"hook_id,omitempty"`   // empty for several
	Event     string `json:"event,omitempty"`
	Timestamp string `json:"timestamp,omitempty"` // RFC 3339, UTC
}

// Display is a hook's message to the user. Its text is untrusted: escape it for where it is shown.
type Display struct {
	Message string      `json:"message"`
	Level   chain.Level `json:"level"`            // info, warning or error
	Source  string      `json:"source,omitempty"` // "hook:" and the hook's name
	HookID  string      `json:"hook_id,omitempty"`
	// UserMessageSource is the source of the message as claimed by the hook. Show it next to
	// Source, not instead of it.
	UserMessageSource string `json:"user_message_source,omitempty"`
}

// From returns the sender for the user: the Source and, in parentheses, the hook's claim. It is
// untrusted, like Message.
func (d Display) From() string {
	if d.UserMessageSource == "" {
		return d.Source
	}
	return d.Source + " (" + d.UserMessageSource + ")"
}

// The kinds of warnings.
const (
	Oversize   = "oversize"   // an injection was dropped: it exceeds the size limit
	Budget     = "budget"     // an injection was dropped: it exceeds the turn's budget
	Overridden = "overridden" // an injection was dropped: the event was denied or needs approval
	Sanitized  = "sanitized"  // misleading characters were removed from an injection, before it was measured
)

// Warning reports what the router did to a hook's injection.
type Warning struct {
	Kind   string `json:"kind"`
	Hook   string `json:"hook,omitempty"` // the hook's name
	Detail string `json:"detail,omitempty"`
}

// Approval is an approval request and its outcome.
type Approval struct {
	ID         string   `json:"id,omitempty"`
	Hook       string   `json:"hook,omitempty"` // the hook's name
	Prompt     string   `json:"prompt,omitempty"`
	Options    []string `json:"options,omitempty"`
	Option     string   `json:"option,omitempty"` // the answer; empty if there is none
	DecidedBy  string   `json:"decided_by,omitempty"`
	Cached     bool     `json:"cached,omitempty"` // answered by an earlier "Allow always"
	TimedOut   bool     `json:"timed_out,omitempty"`
	Expires    string   `json:"expires,omitempty"`     // RFC 3339, UTC
	DataSHA256 string   `json:"data_sha256,omitempty"` // hex digest of the approved data
}
