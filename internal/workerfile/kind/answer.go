package kind

import (
	"bytes"
	"fmt"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// ParseAnswer parses a HookResult from an external program. White space alone, such as the line
// break of an empty echo, means continue. Otherwise it is stricter than a router (see
// [chain.ParseResult]), so that a misspelt answer, or one for another system, does not permit by
// accident: an answer that is not empty must have an action, and what that action requires. The
// error wraps [chain.ErrInvalidResult].
func ParseAnswer(raw []byte) (chain.Result, error) {
	raw = chain.WellFormed(bytes.ToValidUTF8(bytes.Trim(raw, " \t\r\n"), []byte("\ufffd")))
	r, err := chain.ParseResult(raw)
	switch {
	case err != nil:
		return chain.Result{}, err
	case r.Action == "":
		return r, withoutAction(raw)
	case r.Action == chain.Modify && r.Data == nil:
		return chain.Result{}, fmt.Errorf("%w: modify without data: give the whole data as it is to go on", chain.ErrInvalidResult)
	case r.Action == chain.InjectContext && r.ContextInjection == "":
		return chain.Result{}, fmt.Errorf("%w: inject_context without context_injection, the text", chain.ErrInvalidResult)
	}
	return r, nil
}

// withoutAction returns an error for a member that makes no sense without an action, or nil if
// there is no such member.
func withoutAction(raw []byte) error {
	answer, err := events.ParseEnvelope(raw)
	if err != nil { // empty, or null
		return nil
	}
	for name := range answer.All() {
		switch name {
		case "user_message", "user_message_level", "user_message_source", "suppress_output":
		case "decision", "continue", "hookSpecificOutput", "systemMessage", "permissionDecision":
			return fmt.Errorf("%w: it has %q and no action: an answer as Claude Code's scripts give it needs dialect: claude-code of the kind exec", chain.ErrInvalidResult, name)
		default:
			return fmt.Errorf("%w: it has %q and no action: write \"action\" too: continue, deny, modify, inject_context or ask_user", chain.ErrInvalidResult, name)
		}
	}
	return nil
}
