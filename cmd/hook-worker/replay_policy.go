package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/hookfile"
	"github.com/hookrouter/hookrouter/internal/replay"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/match"
)

// policy is the hooks of a file as a chain. It is immutable.
type policy struct {
	table *chain.Table
	safe  map[string]bool // whether a hook may be called again for an old event
}

// newPolicy makes a chain of a file, in the order in which a router would have it.
func newPolicy(file *hookfile.File, runAll, shadows bool) (*policy, error) {
	p := &policy{&chain.Table{}, map[string]bool{}}
	for i, h := range file.Hooks {
		link := &chain.Link{Registration: h.Registration, Order: uint64(i + 1), Hook: h.Handler} //nolint:gosec // small
		if link.Mode == chain.Shadow && shadows {
			link.Mode = chain.Enforce
		}
		if h.Registration.Match != "" {
			program, err := match.Compile(h.Registration.Match)
			if err != nil {
				return nil, fmt.Errorf("hook %q: %w", h.Registration.ID, err)
			}
			link.Wants = func(v *chain.View) (bool, error) {
				return program.Eval(v.Decoded(func(v *chain.View) any { return match.NewInput(v.Event, v.Session, v.Data) }).(*match.Input))
			}
		}
		p.table = p.table.Apply(chain.Change{ID: h.Registration.ID, Link: link})
		p.safe[h.Registration.ID] = runAll || h.Registration.ReplaySafe || h.Kind == "cel" // rules do nothing but answer
	}
	return p, nil
}

// chainTime bounds the chain of one event, as a router does by default.
const chainTime = 30 * time.Second

// decide runs the chain of one event.
func (p *policy) decide(ctx context.Context, req replay.Request) replay.Reply {
	ctx, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	memory := replay.NewMemory(req.Data, req.Recorded)
	call := func(ctx context.Context, link *chain.Link, ev events.Event) (chain.Result, error) {
		switch {
		case link.Hook != nil && p.safe[link.ID]:
			return chain.InProcess(ctx, link, ev)
		case memory.Knows(link.ID):
			return memory.Call(ctx, link, ev)
		}
		err := &replay.Refusal{Reason: "not replayable: " + link.ID + " runs a command, is not replay_safe and was not in the recorded chain (--run-all runs it)"}
		refuse(err)
		return chain.Result{}, err
	}
	ev := events.Event{ID: req.ID, Source: req.Source, Name: req.Event, Session: req.Session, Time: req.Time, Data: req.Data}
	out, err := chain.Run(ctx, p.links(req, memory), ev, chain.Plan{Call: call, Until: time.Now().Add(chainTime)})
	if err == nil && memory.Ended() != "" && !out.Result.Denied() {
		err = &replay.Refusal{Reason: "not replayable: the recorded chain ended where " + memory.Ended() + " denied, which it would not do now: what hooks after it would have said is not known"}
	}
	if err != nil {
		return replay.Reply{Refused: refusal(err)}
	}
	outcome := replay.NewOutcome(out, memory)
	return replay.Reply{Outcome: &outcome}
}

func refusal(err error) *replay.Refusal {
	if r, ok := errors.AsType[*replay.Refusal](err); ok {
		return r
	}
	return &replay.Refusal{Reason: "nothing was decided", Detail: err.Error()}
}

// links are the hooks that an event concerns: those of the file, and with them those of
// the recorded chain. A hook that is in both stands in its recorded place; the others of
// the file come before the recorded ones where their priority is negative, else after.
func (p *policy) links(req replay.Request, memory *replay.Memory) []*chain.Link {
	own := p.table.For(req.Event, req.Session)
	if req.Recorded == nil {
		return own
	}
	recorded := memory.Links()
	placed := map[string]bool{}
	for _, link := range recorded {
		placed[link.ID] = true
	}
	var first, last []*chain.Link
	mine := map[string]*chain.Link{}
	for _, link := range own {
		switch {
		case placed[link.ID]:
			mine[link.ID] = link
		case link.Priority < 0:
			first = append(first, link)
		default:
			last = append(last, link)
		}
	}
	for _, link := range recorded {
		if p.table.Get(link.ID) == nil {
			first = append(first, link)
		} else if mine[link.ID] != nil {
			first = append(first, mine[link.ID])
		}
	}
	return append(first, last...)
}
