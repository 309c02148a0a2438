package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/hookrouter/hookrouter/internal/evaluate/replay"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Verdict is what the hooks of a file decided of an event, and why.
type Verdict struct {
	// Action is what they add up to, and modify where that is continue with other data.
	// It is empty where nothing was decided.
	Action chain.Action `json:"action,omitempty"`
	// By is the hook that denied, asked first, injected first or modified last.
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Inject is the text for the agent's context.
	Inject string `json:"inject,omitempty"`
	// Ask is the question to a person, and Options the answers offered.
	Ask     string   `json:"ask,omitempty"`
	Options []string `json:"options,omitempty"`
	// Data is the data as the hooks leave it.
	Data json.RawMessage `json:"data,omitempty"`
	// Hooks are those that the event concerns, in their order.
	Hooks []Hop `json:"hooks"`
}

// Try runs the chain of an event. Its error is about this event: a hook that may not be
// called was reached, or the time was over. The verdict then has only what the hooks
// before did.
func (c *Chain) Try(ctx context.Context, ev events.Event) (Verdict, error) {
	ctx, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	links := c.Links(ev.Name, ev.Session)
	did := map[string]Hop{}
	calls := map[string]*call{}
	out, err := chain.Run(ctx, links, ev, chain.Plan{
		Call: func(ctx context.Context, link *chain.Entry, ev events.Event) (chain.Result, error) {
			if why := c.whyNot(link.ID); why != "" {
				did[link.ID] = Hop{Did: workerfile.NotCalled, Why: why}
				refuse(c.refusal(link.ID))
				return chain.Result{}, context.Cause(ctx)
			}
			calls[link.ID] = &call{before: ev.Data}
			return calls[link.ID].run(ctx, link, ev)
		},
		Until: time.Now().Add(Time),
		Shadow: func(link *chain.Entry, ev events.Event) {
			did[link.ID] = c.beside(ctx, link, ev)
		},
	})
	for _, h := range out.Calls {
		did[h.Entry.ID] = c.hop(h.Entry, h.Result, h.Failure, h.Err, calls[h.Entry.ID])
	}
	for _, link := range out.Skipped {
		did[link.ID] = skipped
	}
	if err != nil {
		return Verdict{Hooks: inOrder(links, did, true, "")}, err
	}
	v := verdict(out, ev.Data)
	ev.Data = out.Data
	view := &chain.View{Event: ev.Name, Session: ev.Session, Data: ev.Data}
	for _, link := range links {
		if link.Mode == chain.Observe {
			did[link.ID] = c.tell(ctx, link, view, ev)
		}
	}
	v.Hooks = inOrder(links, did, false, out.DeniedBy)
	return v, nil
}

// inOrder is what all hooks did, in their order. Of one that did nothing the chain ended
// before it came there, or it is in mode shadow and its match could not be evaluated.
func inOrder(links []*chain.Entry, did map[string]Hop, ended bool, deniedBy string) []Hop {
	hooks := []Hop{}
	for _, link := range links {
		h, known := did[link.ID]
		switch {
		case known:
		case ended:
			h.Did = workerfile.NotReached
		default:
			h = Hop{Did: workerfile.Failed, Failure: chain.FailedMatch}
		}
		ended = ended || link.ID == deniedBy
		if h.ID = link.ID; !link.Enforced() {
			h.Mode = link.Mode
		}
		hooks = append(hooks, h)
	}
	return hooks
}

func verdict(out chain.Outcome, start json.RawMessage) Verdict {
	d := replay.NewOutcome(out, nil).Decision(start)
	return Verdict{
		Action: d.Action, By: d.By, Reason: d.Reason, Data: out.Data, Hooks: []Hop{},
		Inject: out.Result.ContextInjection, Ask: out.Result.ApprovalPrompt, Options: out.Result.ApprovalOptions,
	}
}

// beside asks a hook whose answer counts for nothing.
func (c *Chain) beside(ctx context.Context, link *chain.Entry, ev events.Event) Hop {
	if why := c.whyNot(link.ID); why != "" {
		return Hop{Did: workerfile.NotCalled, Why: why}
	}
	ctx, cancel := context.WithTimeout(ctx, link.Timeout())
	defer cancel()
	called := &call{before: ev.Data}
	r, err := called.run(ctx, link, ev)
	return c.hop(link, r, chain.FailureOf(err), err, called)
}

// tell is what a hook in mode observe does when it hears what the chain made of the event.
func (c *Chain) tell(ctx context.Context, link *chain.Entry, view *chain.View, ev events.Event) Hop {
	if link.Condition != nil {
		switch wants, err := link.Condition(view); {
		case err != nil:
			return c.hop(link, chain.Result{}, chain.FailedMatch, err, nil)
		case !wants:
			return skipped
		}
	}
	h := c.beside(ctx, link, ev)
	if h.Did == workerfile.NotCalled {
		return Hop{Did: workerfile.Told, Why: "not called here"}
	}
	if h.Did != workerfile.Failed {
		h = Hop{Did: workerfile.Told}
	}
	return h
}

// Options say how hooks are called.
type Options struct {
	// RunAll calls hooks that act in the world too: what they do, they do.
	RunAll bool
}

// may reports whether a hook may be called.
func (o Options) may(h workerfile.Hook) bool {
	return o.RunAll || h.Registration.ReplaySafe || !h.Acts && h.Registration.Mode != chain.Observe
}

// undecided is why nothing was decided of an event, for people.
func undecided(err error) string {
	if refusal, ok := errors.AsType[*replay.Refusal](err); ok {
		return refusal.Error()
	}
	return "nothing was decided: " + err.Error()
}
