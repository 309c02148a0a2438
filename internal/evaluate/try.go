package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Verdict is the decision of a file's hooks on an event, and why.
type Verdict struct {
	// Action is what they add up to, and modify where that is continue with other data.
	// It is empty where nothing was decided.
	Action chain.Action `json:"action,omitempty"`
	// By is the hook that denied, asked first, injected first or modified last.
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Inject is the text for the agent's context.
	Inject string `json:"inject,omitempty"`
	// Ask is the prompt of an approval request, and Options the answers it offers.
	Ask     string   `json:"ask,omitempty"`
	Options []string `json:"options,omitempty"`
	// Data is the data as the hooks leave it.
	Data json.RawMessage `json:"data,omitempty"`
	// Labels are those that the hooks add to what the session has seen.
	Labels []string `json:"labels,omitempty"`
	// Hooks are those that the event concerns, in their order.
	Hooks []HookVerdict `json:"hooks"`
}

// Try runs the chain of an event. An error concerns only this event: it reached a hook that may not
// be called, or ran out of time. The verdict then has only the results of the hooks before.
func (c *fileHooks) Try(ctx context.Context, ev events.Event) (Verdict, error) {
	ctx, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	entries := c.Entries(ev.Name, ev.Session)
	did := map[string]HookVerdict{}
	calls := map[string]*call{}
	out, err := chain.Run(ctx, entries, ev, chain.Plan{
		Call: func(ctx context.Context, entry *chain.Entry, ev events.Event) (chain.Result, error) {
			if why := c.whyNot(entry.ID); why != "" {
				did[entry.ID] = HookVerdict{Effect: workerfile.NotCalled, Why: why}
				refuse(c.refusal(entry.ID))
				return chain.Result{}, context.Cause(ctx)
			}
			calls[entry.ID] = &call{before: ev.Data}
			return calls[entry.ID].run(ctx, entry, ev)
		},
		Until:    time.Now().Add(chainTimeout),
		OneByOne: true, // the Call function has no lock
		Shadow: func(entry *chain.Entry, ev events.Event) {
			did[entry.ID] = c.beside(ctx, entry, ev)
		},
	})
	for _, h := range out.Calls {
		did[h.Entry.ID] = c.hookVerdict(h.Entry, h.Result, h.Failure, h.Err, calls[h.Entry.ID])
	}
	for _, entry := range out.Skipped {
		did[entry.ID] = skipped
	}
	if err != nil {
		return Verdict{Hooks: inChainOrder(entries, did, true, "")}, err
	}
	v := verdict(out, ev.Data)
	ev.Data = out.Data
	view := chain.ViewOf(ev)
	for _, entry := range entries {
		if entry.Observes() {
			did[entry.ID] = c.tell(ctx, entry, view, ev)
		}
	}
	v.Hooks = inChainOrder(entries, did, false, out.DeniedBy)
	return v, nil
}

// inChainOrder returns the results of all hooks, in order. A hook without a result was not reached
// because the chain ended, or is in mode shadow and its match could not be evaluated.
func inChainOrder(entries []*chain.Entry, did map[string]HookVerdict, ended bool, deniedBy string) []HookVerdict {
	hooks := []HookVerdict{}
	for _, entry := range entries {
		h, known := did[entry.ID]
		switch {
		case known:
		case ended:
			h.Effect = workerfile.NotReached
		default:
			h = HookVerdict{Effect: workerfile.Failed, Failure: chain.FailedMatch}
		}
		ended = ended || entry.ID == deniedBy
		if h.ID = entry.ID; !entry.Enforced() {
			h.Mode = entry.Mode
		}
		hooks = append(hooks, h)
	}
	return hooks
}

func verdict(out chain.Outcome, start json.RawMessage) Verdict {
	d := newOutcome(out, nil).Decision(start)
	return Verdict{
		Action: d.Action, By: d.By, Reason: d.Reason, Data: out.Data, Hooks: []HookVerdict{}, Labels: events.UnionLabels(out.Labels, nil),
		Inject: out.Result.ContextInjection, Ask: out.Result.ApprovalPrompt, Options: out.Result.ApprovalOptions,
	}
}

// beside calls a hook whose answer does not count.
func (c *fileHooks) beside(ctx context.Context, entry *chain.Entry, ev events.Event) HookVerdict {
	if why := c.whyNot(entry.ID); why != "" {
		return HookVerdict{Effect: workerfile.NotCalled, Why: why}
	}
	ctx, cancel := context.WithTimeout(ctx, entry.Timeout())
	defer cancel()
	called := &call{before: ev.Data}
	r, err := called.run(ctx, entry, ev)
	return c.hookVerdict(entry, r, chain.FailureOf(err), err, called)
}

// tell calls a hook in mode observe with the chain's final data, and returns what it did.
func (c *fileHooks) tell(ctx context.Context, entry *chain.Entry, view *chain.View, ev events.Event) HookVerdict {
	if entry.Condition != nil {
		switch wants, err := entry.Condition(view); {
		case err != nil:
			return c.hookVerdict(entry, chain.Result{}, chain.FailedMatch, err, nil)
		case !wants:
			return skipped
		}
	}
	h := c.beside(ctx, entry, ev)
	if h.Effect == workerfile.NotCalled {
		return HookVerdict{Effect: workerfile.Observed, Why: "not called here"}
	}
	if h.Effect != workerfile.Failed {
		h = HookVerdict{Effect: workerfile.Observed}
	}
	return h
}

// Options configure how hooks are called.
type Options struct {
	// RunAll also calls hooks with side effects.
	RunAll bool
}

// may reports whether a hook may be called.
func (o Options) may(h workerfile.Hook) bool {
	return o.RunAll || h.Registration.ReplaySafe || !h.Acts && !h.Registration.Observes()
}

// undecidedText returns why an event was not decided.
func undecidedText(err error) string {
	if refusal, ok := errors.AsType[*Undecided](err); ok {
		return refusal.Error()
	}
	return "nothing was decided: " + err.Error()
}
