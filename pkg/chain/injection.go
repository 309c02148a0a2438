package chain

import (
	"cmp"
	"errors"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// maxListed bounds the text of listed injections, in bytes, since a result contains it twice.
const maxListed = 64 << 10

// ContextInjection is one hook's addition to the agent's context, with that hook's settings. It
// corresponds to the ContextInjection of amplifier-core 2.
type ContextInjection struct {
	// Content is the text.
	Content string `json:"content"`
	// Role is the author of the message; empty means system.
	Role Role `json:"role"`
	// Ephemeral limits it to the next model call.
	Ephemeral bool `json:"ephemeral,omitempty"`
	// AppendToLastToolResult applies to ephemeral injections only: see [Result].
	AppendToLastToolResult bool `json:"append_to_last_tool_result,omitempty"`
	// HookName and HookID identify the hook.
	HookName string `json:"hook_name"`
	HookID   string `json:"hook_id,omitempty"`
	// Event is the name of the event.
	Event string `json:"event"`
}

// NewContextInjection returns the injection of a call with the given text.
func NewContextInjection(call Call, event, text string) ContextInjection {
	return ContextInjection{
		Content: text, Role: cmp.Or(call.Result.ContextInjectionRole, RoleSystem),
		Ephemeral:              call.Result.Ephemeral,
		AppendToLastToolResult: call.Result.Ephemeral && call.Result.AppendToLastToolResult,
		HookName:               call.Entry.Title(), HookID: call.Entry.ID, Event: event,
	}
}

// Write writes the members of the injection's JSON object.
func (c ContextInjection) Write(w *events.ObjectWriter) {
	w.String("content", c.Content)
	w.String("role", string(cmp.Or(c.Role, RoleSystem)))
	w.Flag("ephemeral", c.Ephemeral)
	w.Flag("append_to_last_tool_result", c.AppendToLastToolResult)
	w.Text("hook_name", c.HookName)
	w.Text("hook_id", c.HookID)
	w.Text("event", c.Event)
}

var errInjections = errors.New("a list of injections, each with a role that is known")

// ParseContextInjections parses a list of injections; null is an empty list. It ignores unknown
// members. The error completes "context_injections must be".
func ParseContextInjections(v jsontext.Value) ([]ContextInjection, error) {
	var parsed []*ContextInjection // nil for null
	if jsonv2.Unmarshal(v, &parsed) != nil {
		return nil, errInjections
	}
	var list []ContextInjection
	for _, one := range parsed {
		if one == nil {
			return nil, errInjections
		}
		one.Role = cmp.Or(one.Role, RoleSystem)
		if !slices.Contains([]Role{RoleSystem, RoleUser, RoleAssistant}, one.Role) {
			return nil, errInjections
		}
		list = append(list, *one)
	}
	return list, nil
}
