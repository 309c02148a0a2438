package workerfile

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Assumed is what a hook is taken to answer in a test, instead of being called: in a file
// the name of an action, failed, or a result.
type Assumed struct {
	Result chain.Result // unless the hook fails
	Fails  bool         // the hook could not decide

	raw jsontext.Value // as in the file, until it is checked
}

// UnmarshalJSONFrom keeps any value; it is interpreted when its test is checked.
func (a *Assumed) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	a.raw = raw.Clone()
	return err
}

// AssumedResult is an [Assumed] that is more than an action: the members of a result that
// a test can see.
type AssumedResult struct {
	// Action is continue, deny, modify, inject_context or ask_user.
	Action chain.Action `json:"action" jsonschema:"required,enum=continue,enum=deny,enum=modify,enum=inject_context,enum=ask_user"`
	// Reason explains a denial or a change.
	Reason string `json:"reason"`
	// Data is the whole new data of modify.
	Data jsontext.Value `json:"data" jsonschema:"type=object"`
	// ContextInjection is the text that inject_context adds to the agent's context.
	ContextInjection string `json:"context_injection"`
	// ApprovalPrompt is what a person is asked.
	ApprovalPrompt string `json:"approval_prompt"`
	// ApprovalOptions are the answers offered; absent means Allow and Deny.
	ApprovalOptions []string `json:"approval_options"`
	// UserMessage is shown to the user.
	UserMessage string `json:"user_message"`
}

// AssumedEffects returns the effects that a test may assume by name.
func AssumedEffects() []Effect { return Effects()[:6] }

// assume checks and completes what a test assumes about hooks.
func (c *testChecker) assume(at jsontext.Pointer, assumed map[string]Assumed) error {
	var wrong []error
	for _, id := range slices.Sorted(maps.Keys(assumed)) {
		a, at := assumed[id], at.AppendToken(id)
		if !slices.Contains(c.hooks, id) {
			wrong = append(wrong, c.errorAt(at, c.noHook(id)))
			continue
		}
		wrong = append(wrong, c.assumed(at, &a))
		assumed[id] = a
	}
	return errors.Join(wrong...)
}

func (c *testChecker) assumed(at jsontext.Pointer, a *Assumed) error {
	var r AssumedResult
	switch a.raw.Kind() {
	case '"':
		word := c.places[at].text
		if a.Fails = word == string(Failed); a.Fails {
			return nil
		}
		r.Action = chain.Action(word)
	case '{':
		if err := c.decode(at, a.raw, &r, strict); err != nil {
			return err
		}
	default:
		return c.errorAt(at, fmt.Errorf("must be one of %s, or a result such as {action: deny, reason: no}", list(texts(AssumedEffects()))))
	}
	switch {
	case r.Action == "":
		return c.errorAt(at, errors.New("the result has no action: give it one, such as action: deny"))
	case !slices.Contains(AssumedEffects(), Effect(r.Action)):
		return c.errorAt(at, fmt.Errorf("must be one of %s, not %q", list(texts(AssumedEffects())), r.Action))
	case r.Action == chain.Modify && r.Data == nil:
		return c.errorAt(at, errors.New("what modify changes is missing: write {action: modify, data: {…}}"))
	}
	if r.Data != nil {
		if _, err := events.ParseObject(r.Data); err != nil {
			return c.errorAt(at+"/data", err)
		}
	}
	a.Result = chain.Result{
		Action: r.Action, Reason: r.Reason, Data: []byte(r.Data), ContextInjection: r.ContextInjection,
		ApprovalPrompt: r.ApprovalPrompt, ApprovalOptions: r.ApprovalOptions, UserMessage: r.UserMessage,
	}
	return nil
}
