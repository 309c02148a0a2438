package evaluate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Outcome is what a chain came to.
type Outcome struct {
	Action    chain.Action    `json:"action"`
	Reason    string          `json:"reason,omitempty"`
	DeniedBy  string          `json:"denied_by,omitempty"` // the hook's id
	Injection string          `json:"injection,omitempty"` // the text for the agent's context
	Data      json.RawMessage `json:"data,omitempty"`      // as the chain left it
	Labels    []string        `json:"labels,omitempty"`    // that hooks set
	Calls     []Call          `json:"hops"`
	Skipped   []string        `json:"skipped,omitempty"` // whose match was false
}

// Call is what happened at one hook.
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

// newOutcome is what a run of [chain.Run] came to; memory may be nil.
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
		}
		o.Calls = append(o.Calls, step)
	}
	for _, entry := range out.Skipped {
		o.Skipped = append(o.Skipped, entry.ID)
	}
	return o
}

// Recorded is what the chain came to then, by the engine of now.
func (c *Recording) Recorded(ctx context.Context) (Outcome, error) {
	memory := newMemory(c.Data, c.Answers)
	out, err := chain.Run(ctx, memory.Entries(), c.asEvent(), chain.Plan{Call: memory.Call})
	return newOutcome(out, memory), err
}

// Decision is an outcome in brief: what was decided, and by which hook.
type Decision struct {
	// Action is that of the outcome, and modify where that is continue with other data.
	Action chain.Action `json:"action"`
	// By is the hook that denied, asked first, injected first or modified last.
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Failure is that of a hook that denied because it failed.
	Failure chain.Failure `json:"failure,omitempty"`
}

// Decision is the outcome in brief. start is the data that came in.
func (o Outcome) Decision(start json.RawMessage) Decision {
	d := Decision{Action: o.Action, By: o.DeniedBy, Reason: o.Reason}
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

// by is the first of some hooks that did something, and its reason.
func by(calls iter.Seq2[int, Call], did chain.Action) (id, reason string) {
	for _, h := range calls {
		if h.Action == did {
			return h.ID, h.Reason
		}
	}
	return "", ""
}

// What of a decision differs.
const (
	DiffersInAction = "action"
	DiffersInLabels = "labels" // that hooks set, by the same action
	DiffersInData   = "data"   // of the chain, by the same action
	DiffersInText   = "text"   // that is injected
)

// differ says what differs between two outcomes of a chain, "" for nothing: another
// hook or another reason for the same is no difference.
func (c *Recording) differ(was, would Outcome) string {
	a, b := was.Decision(c.Data), would.Decision(c.Data)
	switch {
	case a.Action != b.Action:
		return DiffersInAction
	case !slices.Equal(was.Labels, would.Labels):
		return DiffersInLabels
	case a.Action == chain.Deny:
		return ""
	case !same(was.Data, would.Data):
		return DiffersInData
	case a.Action == chain.InjectContext && was.Injection != would.Injection && !c.unknownText():
		return DiffersInText
	}
	return ""
}

// unknownText reports whether some injected text is not in the log as it was.
func (c *Recording) unknownText() bool {
	return slices.ContainsFunc(c.Answers, func(a Answer) bool { return a.unknown })
}

// same reports whether two JSON texts say the same; numbers are compared as written.
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
