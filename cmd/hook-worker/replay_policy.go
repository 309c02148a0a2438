package main

import (
	"context"
	"errors"
	"time"

	"github.com/hookrouter/hookrouter/internal/evaluate"
	"github.com/hookrouter/hookrouter/internal/evaluate/replay"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// policy is the hooks of a file beside those of a recorded chain. It is immutable.
type policy struct{ *evaluate.Chain }

// newPolicy makes a chain of a file, in the order in which a router would have it.
// Events run at the same time here, so what a builtin remembers of others counts for
// nothing: rules are called, and what is replay_safe.
func newPolicy(file *workerfile.File, runAll, shadows bool) policy {
	return policy{evaluate.NewChain(file, func(h workerfile.Hook) bool {
		return runAll || h.Registration.ReplaySafe || h.Kind == "cel"
	}, shadows)}
}

// decide runs the chain of one event.
func (p policy) decide(ctx context.Context, req replay.Request) replay.Reply {
	ctx, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	memory := replay.NewMemory(req.Data, req.Recorded)
	call := func(ctx context.Context, link *chain.Entry, ev events.Event) (chain.Result, error) {
		switch {
		case link.Hook != nil && p.May(link.ID):
			return chain.InProcess(ctx, link, ev)
		case memory.Knows(link.ID):
			return memory.Call(ctx, link, ev)
		}
		err := &replay.Refusal{Reason: "not replayable: " + link.ID + " runs a command, is not replay_safe and was not in the recorded chain (--run-all runs it)"}
		if p.Lacks(link.ID) {
			err.Reason = "not replayable: " + link.ID + " can't run on this machine and was not in the recorded chain"
		}
		refuse(err)
		return chain.Result{}, err
	}
	if then, err := time.Parse(time.RFC3339, req.Time); err == nil {
		ctx = kind.WithTime(ctx, then) // so that a rule about the time says what it would have said
	}
	ev := events.Event{ID: req.ID, Source: req.Source, Name: req.Event, Session: req.Session, Time: req.Time, Data: req.Data}
	out, err := chain.Run(ctx, p.beside(req, memory), ev, chain.Plan{Call: call, Until: time.Now().Add(evaluate.Time)})
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

// beside are the hooks that an event concerns: those of the file, and with them those of
// the recorded chain. A hook that is in both stands in its recorded place; the others of
// the file come before the recorded ones where their priority is negative, else after.
func (p policy) beside(req replay.Request, memory *replay.Memory) []*chain.Entry {
	own := p.Links(req.Event, req.Session)
	if req.Recorded == nil {
		return own
	}
	recorded := memory.Links()
	placed := map[string]bool{}
	for _, link := range recorded {
		placed[link.ID] = true
	}
	var first, last []*chain.Entry
	mine := map[string]*chain.Entry{}
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
		if !p.Has(link.ID) {
			first = append(first, link)
		} else if mine[link.ID] != nil {
			first = append(first, mine[link.ID])
		}
	}
	return append(first, last...)
}
