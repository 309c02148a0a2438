package trial

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/hookrouter/hookrouter/internal/hookfile"
	"github.com/hookrouter/hookrouter/internal/replay"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Verdict is what the hooks of a file decided of an event, and why.
type Verdict struct {
	// Action is what they add up to, and modify where that is continue with other data.
	Action chain.Action `json:"action"`
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

// Hop is what one hook did.
type Hop struct {
	ID      string        `json:"id"`
	Mode    chain.Mode    `json:"mode,omitempty"` // where it is not enforced
	Did     hookfile.Did  `json:"did"`
	Reason  string        `json:"reason,omitempty"`
	Inject  string        `json:"inject,omitempty"`
	Ask     string        `json:"ask,omitempty"`
	Failure chain.Failure `json:"failure,omitempty"`
	Error   string        `json:"error,omitempty"`
	// UserMessage is what it has to say to the user.
	UserMessage string `json:"user_message,omitempty"`
}

// Try runs the chain of an event. Its error is about this event: a hook that may not be
// called was reached, or the time was over.
func (c *Chain) Try(ctx context.Context, ev events.Event) (Verdict, error) {
	ctx, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	links := c.Links(ev.Name, ev.Session)
	did := map[string]Hop{}
	out, err := chain.Run(ctx, links, ev, chain.Plan{
		Call: func(ctx context.Context, link *chain.Link, ev events.Event) (chain.Result, error) {
			if !c.May(link.ID) {
				err := notCalled(link.ID)
				refuse(err)
				return chain.Result{}, err
			}
			return chain.InProcess(ctx, link, ev)
		},
		Until: time.Now().Add(Time),
		Shadow: func(link *chain.Link, ev events.Event) {
			did[link.ID] = c.beside(ctx, link, ev)
		},
	})
	if err != nil {
		return Verdict{}, err
	}
	for _, h := range out.Hops {
		did[h.Link.ID] = hop(h.Link, h.Result, h.Failure, h.Err)
	}
	for _, link := range out.Skipped {
		did[link.ID] = Hop{Did: hookfile.Skipped}
	}
	v := verdict(out, ev.Data)
	ev.Data = out.Data
	view := &chain.View{Event: ev.Name, Session: ev.Session, Data: ev.Data}
	behind := false
	for _, link := range links {
		h, known := did[link.ID]
		switch {
		case link.Mode == chain.Observe:
			h = c.tell(ctx, link, view, ev)
		case known:
		case behind:
			h.Did = hookfile.NotReached
		default: // in mode shadow, and its match could not be evaluated
			h = hop(link, chain.Result{}, chain.FailedMatch, nil)
		}
		behind = behind || link.ID == out.DeniedBy
		if h.ID = link.ID; !link.Enforced() {
			h.Mode = link.Mode
		}
		v.Hooks = append(v.Hooks, h)
	}
	return v, nil
}

func notCalled(id string) error {
	return &replay.Refusal{Reason: "hook " + id + " acts in the world, so that it was not called: say replay_safe: true of it where that does no harm, or --run-all"}
}

func verdict(out chain.Outcome, start json.RawMessage) Verdict {
	d := replay.NewOutcome(out, nil).Decision(start)
	return Verdict{
		Action: d.Action, By: d.By, Reason: d.Reason, Data: out.Data, Hooks: []Hop{},
		Inject: out.Result.ContextInjection, Ask: out.Result.ApprovalPrompt, Options: out.Result.ApprovalOptions,
	}
}

func hop(link *chain.Link, r chain.Result, failure chain.Failure, err error) Hop {
	h := Hop{
		ID: link.ID, Did: hookfile.Did(r.Action), Reason: r.Reason, Failure: failure,
		Inject: r.ContextInjection, Ask: r.ApprovalPrompt, UserMessage: r.UserMessage,
	}
	switch {
	case failure != "":
		h.Did = hookfile.Failed
	case r.Action == "":
		h.Did = hookfile.Did(chain.Continue)
	}
	if err != nil {
		h.Error = err.Error()
	}
	return h
}

// beside asks a hook whose answer counts for nothing.
func (c *Chain) beside(ctx context.Context, link *chain.Link, ev events.Event) Hop {
	if !c.May(link.ID) {
		return Hop{Did: hookfile.NotCalled}
	}
	ctx, cancel := context.WithTimeout(ctx, link.Timeout())
	defer cancel()
	r, err := chain.InProcess(ctx, link, ev)
	return hop(link, r, chain.FailureOf(err), err)
}

// tell is what a hook in mode observe does when it hears what the chain made of the event.
func (c *Chain) tell(ctx context.Context, link *chain.Link, view *chain.View, ev events.Event) Hop {
	if link.Wants != nil {
		switch wants, err := link.Wants(view); {
		case err != nil:
			return hop(link, chain.Result{}, chain.FailedMatch, err)
		case !wants:
			return Hop{Did: hookfile.Skipped}
		}
	}
	h := c.beside(ctx, link, ev)
	if h.Did != hookfile.Failed {
		h = Hop{Did: hookfile.Told}
	}
	return h
}

// Options say how hooks are called.
type Options struct {
	// RunAll calls hooks that act in the world too: what they do, they do.
	RunAll bool
}

// may reports whether a hook may be called.
func (o Options) may(h hookfile.Hook) bool {
	return o.RunAll || h.Registration.ReplaySafe || !h.Acts && h.Registration.Mode != chain.Observe
}

// undecided is why nothing was decided of an event, for people.
func undecided(err error) string {
	if refusal, ok := errors.AsType[*replay.Refusal](err); ok {
		return refusal.Error()
	}
	return "nothing was decided: " + err.Error()
}
