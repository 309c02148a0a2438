package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/policy/match"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

// Policy returns the outcome of a recorded chain under some hooks. The error is an [*Undecided] if
// the outcome of this chain is unknown; any other error ends the replay.
type Policy func(ctx context.Context, c *Recording) (Outcome, error)

// Live is the policy of the hooks that are registered when a chain is replayed. It is safe for
// concurrent use.
type Live struct {
	bus     *natsx.Conn
	shadows bool

	mu    sync.Mutex // guards the fields below; held while the registrations are requested
	hooks map[string]agent.Listing
	asked time.Time // when hooks was requested

	conditions sync.Map // by match: func(*chain.View) (bool, error)
}

// NewLive returns the policy of the hooks on a bus. With shadows, hooks in mode shadow count as
// enforced; otherwise they are left out.
func NewLive(b *natsx.Conn, shadows bool) *Live { return &Live{bus: b, shadows: shadows} }

const (
	fresh    = time.Second // the maximum age of the list of registrations
	maxReply = 512 << 10   // of a hook's reply in bytes, a router's default
)

// Replay implements [Policy].
func (l *Live) Replay(ctx context.Context, c *Recording) (Outcome, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &liveRun{Live: l, ctx: ctx, end: cancel, ev: c.asEvent(), memory: newMemory(c.Data, c.Answers), id: events.NewID()}
	hooks, err := r.explain()
	if err != nil {
		return Outcome{}, err
	}
	var entries []*chain.Entry
	for _, h := range hooks {
		if h.Mode == chain.Observe || h.Mode == chain.Async || h.Mode == chain.Shadow && !l.shadows {
			continue
		}
		reg := chain.Registration{ID: h.ID, Name: h.Name, Match: h.Match, TimeoutMS: h.TimeoutMS, OnFailure: h.OnFailure}
		condition, err := l.condition(reg)
		if err != nil {
			return Outcome{}, &Undecided{Reason: "not replayable: the match of " + h.ID + " can't be read here", Detail: err.Error()}
		}
		entries = append(entries, &chain.Entry{Registration: reg, Condition: condition})
	}
	out, err := chain.Run(ctx, entries, r.ev, chain.Plan{Call: r.call, Until: time.Now().Add(chainTimeout)})
	if errors.Is(err, chain.ErrDeadline) {
		err = &Undecided{Reason: "out of time: its hooks took longer than " + chainTimeout.String()}
	}
	return newOutcome(out, r.memory), err
}

// condition compiles a match, once. Replay evaluates it itself, with the session as recorded,
// because routers use the current session.
func (l *Live) condition(reg chain.Registration) (func(*chain.View) (bool, error), error) {
	if known, ok := l.conditions.Load(reg.Match); ok {
		return known.(func(*chain.View) (bool, error)), nil
	}
	condition, err := match.Condition(reg)
	if err == nil {
		l.conditions.Store(reg.Match, condition)
	}
	return condition, err
}

// liveRun is the run of one chain through the hooks. It is used by one goroutine.
type liveRun struct {
	*Live
	ctx    context.Context // ends with the run; the condition of an entry gets no context from chain.Run
	end    context.CancelCauseFunc
	ev     events.Event
	memory *recordedAnswers
	id     string // of the chain as the hooks see it, not the recorded one
}

// stop ends the run. Its error is not a failure of a hook.
func (r *liveRun) stop(err error) error {
	r.end(err)
	return err
}

// explain requests the hooks for the event, in order, from a router.
func (r *liveRun) explain() ([]agent.Explanation, error) {
	var answer struct {
		Hooks []agent.Explanation `json:"hooks"`
	}
	header := wire.Header{}
	r.ev.SetHeader(header)
	err := r.ask(r.ctx, r.bus.Event("explain", r.ev.Name), header, r.ev.Data, &answer)
	if wire.CodeOf(err) == wire.Malformed {
		return nil, &Undecided{Reason: "not replayable: a router refuses to say which hooks want it", Detail: err.Error()}
	}
	return answer.Hooks, err
}

// call implements [chain.Caller]. It keeps a replay from calling hooks with side effects.
func (r *liveRun) call(ctx context.Context, entry *chain.Entry, ev events.Event) (chain.Result, error) {
	safe, err := r.safe(r.ctx, entry.ID) //nolint:contextcheck // asked once for the whole replay, not within one call's time
	switch {
	case err != nil:
		return chain.Result{}, r.stop(err)
	case safe:
		return r.request(ctx, entry, ev)
	case r.memory.Knows(entry.ID):
		return r.memory.Call(ctx, entry, ev)
	}
	return chain.Result{}, r.stop(&Undecided{Reason: "not replayable: " + entry.ID + " is not replay_safe and was not in the recorded chain"})
}

// safe reports whether a hook may be called.
func (l *Live) safe(ctx context.Context, id string) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.asked) > fresh {
		var list []agent.Listing
		asked := time.Now()
		if err := l.ask(ctx, l.bus.Of("registry"), nil, nil, &list); err != nil {
			return false, err
		}
		l.asked, l.hooks = asked, make(map[string]agent.Listing, len(list))
		for _, h := range list {
			l.hooks[h.ID] = h
		}
	}
	h, ok := l.hooks[id]
	return ok && (h.ReplaySafe || h.Mode == chain.Shadow), nil
}

// request calls a hook the way a router calls one in mode shadow.
func (r *liveRun) request(ctx context.Context, entry *chain.Entry, ev events.Event) (chain.Result, error) {
	header := wire.Header{wire.HeaderChainID: {r.id}, wire.HeaderCallID: {events.NewID()}, wire.HeaderMode: {string(chain.Shadow)}}
	ev.SetHeader(header)
	if end, ok := ctx.Deadline(); ok {
		header[wire.HeaderTimeout] = []string{strconv.FormatInt(max(time.Until(end).Milliseconds(), 1), 10)}
	}
	reply, err := r.bus.Request(ctx, r.bus.Call(entry.ID), header, ev.Data)
	switch {
	case errors.Is(err, natsx.ErrNoResponders):
		return chain.Result{}, chain.ErrNoResponder
	case wire.CodeOf(err) == wire.Deadline:
		return chain.Result{}, context.DeadlineExceeded
	case wire.CodeOf(err) == wire.InvalidResult:
		return chain.Result{}, fmt.Errorf("%w: %w", chain.ErrInvalidResult, err)
	case errors.Is(err, natsx.ErrDisconnected):
		return chain.Result{}, r.stop(err)
	case err != nil:
		return chain.Result{}, err
	case len(reply.Data) > maxReply:
		return chain.Result{}, fmt.Errorf("%w: it has %d bytes, at most %d are allowed", chain.ErrInvalidResult, len(reply.Data), maxReply)
	}
	return chain.ParseResult(reply.Data)
}

// How often, and how long apart, to retry while the table of a router is not current.
const (
	tries = 10
	pause = 200 * time.Millisecond
)

// ask sends a request to a router and decodes the answer.
func (l *Live) ask(ctx context.Context, subject string, header wire.Header, body []byte, answer any) error {
	for try := 1; ; try++ {
		bounded, cancel := context.WithTimeout(ctx, 5*time.Second)
		reply, err := l.bus.Request(bounded, subject, header, body)
		cancel()
		if err == nil {
			if err := json.Unmarshal(reply.Data, answer); err != nil {
				return fmt.Errorf("ask a router on %s: read the answer: %w", subject, err)
			}
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(err, natsx.ErrNoResponders) {
			return fmt.Errorf("%w on %s: start `hook-router`, see on its /readyz why it is not ready, or check the prefix", hookrouter.ErrNoRouter, subject)
		}
		if wire.CodeOf(err) != wire.Unavailable || try == tries {
			return fmt.Errorf("ask a router on %s: %w", subject, err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
