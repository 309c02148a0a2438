package evaluate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Outcome is the outcome of a chain.
type Outcome struct {
	Action    chain.Action    `json:"action"`
	Reason    string          `json:"reason,omitempty"`
	DeniedBy  string          `json:"denied_by,omitempty"` // the hook's id
	Injection string          `json:"injection,omitempty"` // the text for the agent's context
	Data      json.RawMessage `json:"data,omitempty"`      // as the chain left it
	Labels    []string        `json:"labels,omitempty"`    // that hooks set
	Calls     []Call          `json:"hops"`
	Skipped   []string        `json:"skipped,omitempty"` // whose match was false
	// Open says that a denial ended the recorded chain, and that the chain goes on now: later
	// hooks, which the log does not know, may deny.
	Open bool `json:"open,omitempty"`

	questions string   // of the called hooks; empty if none asks
	unknown   []string // hooks that answered as recorded, but whose injected text the log does not have unchanged
}

// Call is the result of one hook.
type Call struct {
	ID      string        `json:"id"`
	Action  chain.Action  `json:"action,omitempty"` // empty where it failed
	Reason  string        `json:"reason,omitempty"`
	Failure chain.Failure `json:"failure,omitempty"`
	Error   string        `json:"error,omitempty"`
	// Recorded says that it was not called: it answered as the log has it.
	Recorded bool `json:"recorded,omitempty"`
	// Assumed says so too, and that the answer was to other data than came to it now.
	Assumed bool `json:"assumed,omitempty"`
}

// newOutcome returns the outcome of a run of [chain.Run]. memory may be nil.
func newOutcome(out chain.Outcome, memory *recordedAnswers) Outcome {
	o := Outcome{
		Action: cmp.Or(out.Result.Action, chain.Continue), Reason: out.Result.Reason, DeniedBy: out.DeniedBy,
		Injection: out.Result.ContextInjection, Data: out.Data, Calls: []Call{},
	}
	for _, h := range out.Calls {
		o.Labels = events.UnionLabels(o.Labels, h.Result.Labels)
		step := Call{ID: h.Entry.ID, Reason: h.Result.Reason, Failure: h.Failure}
		if step.Failure == "" {
			step.Action = cmp.Or(h.Result.Action, chain.Continue)
		}
		if h.Err != nil {
			step.Error = h.Err.Error()
		}
		if memory != nil {
			step.Recorded, step.Assumed = slices.Contains(memory.used, step.ID), slices.Contains(memory.assumed, step.ID)
			if step.Recorded && memory.places[step.ID].unknown {
				o.unknown = append(o.unknown, step.ID)
			}
		}
		o.Calls = append(o.Calls, step)
		if step.Action == chain.AskUser && !step.Recorded {
			o.questions += question(h) + "\n"
		}
	}
	for _, entry := range out.Skipped {
		o.Skipped = append(o.Skipped, entry.ID)
	}
	return o
}

// question returns what identifies a hook's approval request: the prompt, the options, and the
// effects of an answer. The log has only part of that.
func question(h chain.Call) string {
	r, timeout := h.Result, chain.DefaultApprovalTimeout
	if r.ApprovalTimeout != nil {
		timeout = *r.ApprovalTimeout
	}
	return fmt.Sprintf("%q %q %v %s %q %q %+v", r.ApprovalPrompt, r.ApprovalOptions, timeout, cmp.Or(r.ApprovalDefault, chain.Deny), r.ApprovalKey, r.Unlabel, h.Entry.Approval)
}

// Recorded returns the outcome of the recorded chain, according to the current engine.
func (c *Recording) Recorded(ctx context.Context) (Outcome, error) {
	memory := newMemory(c.Data, c.Answers)
	out, err := chain.Run(ctx, memory.Entries(), c.asEvent(), chain.Plan{Call: memory.Call})
	return newOutcome(out, memory), err
}

// Decision is a summary of an outcome: what was decided, and by which hook.
type Decision struct {
	// Action is that of the outcome, and modify where that is continue with other data.
	Action chain.Action `json:"action"`
	// By is the hook that denied, asked first, injected first or modified last.
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Failure is that of a hook that denied because it failed.
	Failure chain.Failure `json:"failure,omitempty"`
	Open    bool          `json:"open,omitempty"` // see [Outcome.Open]
}

// Decision summarizes the outcome. start is the data that came in.
func (o Outcome) Decision(start json.RawMessage) Decision {
	d := Decision{Action: o.Action, By: o.DeniedBy, Reason: o.Reason, Open: o.Open}
	switch o.Action {
	case chain.Deny:
		if n := len(o.Calls); n > 0 {
			d.Failure = o.Calls[n-1].Failure
		}
	case chain.Continue:
		if !same(o.Data, start) {
			d.Action = chain.Modify
			d.By, d.Reason = by(slices.Backward(o.Calls), chain.Modify)
		}
	default:
		hook, reason := by(slices.All(o.Calls), d.Action)
		d.By, d.Reason = hook, cmp.Or(d.Reason, reason)
	}
	return d
}

// by returns the first hook with an action, and its reason.
func by(calls iter.Seq2[int, Call], did chain.Action) (id, reason string) {
	for _, h := range calls {
		if h.Action == did {
			return h.ID, h.Reason
		}
	}
	return "", ""
}

// The differences between decisions.
const (
	DiffersInAction   = "action"
	DiffersInLabels   = "labels"   // set by hooks, with the same action
	DiffersInQuestion = "question" // of the approval request
	DiffersInData     = "data"     // of the chain, with the same action
	DiffersInText     = "text"     // that is injected
)

// differ returns how two outcomes of a chain differ, or "" if they do not. Another hook or another
// reason for the same decision is not a difference.
func (c *Recording) differ(was, would Outcome) string {
	a, b := was.Decision(c.Data), would.Decision(c.Data)
	switch {
	case a.Action != b.Action:
		return DiffersInAction
	case !slices.Equal(was.Labels, would.Labels):
		return DiffersInLabels
	case a.Action == chain.Deny:
		return ""
	case was.questions != "" && would.questions != "" && was.questions != would.questions:
		return DiffersInQuestion
	case !same(was.Data, would.Data):
		return DiffersInData
	case a.Action == chain.InjectContext && was.Injection != would.Injection && slices.Equal(was.unknown, would.unknown):
		return DiffersInText
	}
	return ""
}

// same reports whether two JSON texts have the same value. Numbers are compared as written.
func same(a, b json.RawMessage) bool {
	return bytes.Equal(a, b) || bytes.Equal(canonical(a), canonical(b))
}

func canonical(raw json.RawMessage) []byte {
	v := jsontext.Value(bytes.Clone(raw))
	if err := v.Compact(jsontext.ReorderRawObjects(true), jsontext.PreserveRawStrings(false)); err != nil {
		return raw
	}
	return v
}
