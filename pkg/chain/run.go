package chain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Failure is the class of a hook's failure; empty means success.
type Failure string

// The failure classes.
const (
	FailedError       Failure = "error"          // the hook answered with an error
	FailedTimeout     Failure = "timeout"        // no answer in time
	FailedNoResponder Failure = "no_responder"   // no live worker
	FailedInvalid     Failure = "invalid_result" // the answer is not a valid result
	FailedMatch       Failure = "match_error"    // the match could not be evaluated
)

// ErrNoResponder is wrapped by the error of a [Caller] if the hook has no live worker.
var ErrNoResponder = errors.New("no worker answers for this hook")

// ErrRemoved is wrapped by the error of a [Caller] if the hook was removed after the chain began.
// [Run] skips the hook, as if it had never been in the chain.
var ErrRemoved = fmt.Errorf("%w: it is not registered any more", ErrNoResponder)

// Abort is an error of a [Caller] that ends the chain: nothing is decided, and [Run] returns Err. A
// denial by a hook earlier in the chain that is called concurrently still counts.
type Abort struct{ Err error }

func (a Abort) Error() string { return a.Err.Error() }

// Unwrap returns Err.
func (a Abort) Unwrap() error { return a.Err }

// ErrDeadline means that the chain's time ended before every hook had answered.
var ErrDeadline = errors.New("the time for the chain is over")

// FailureOf returns the class of a [Caller]'s error; empty for nil.
func FailureOf(err error) Failure {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, ErrNoResponder):
		return FailedNoResponder
	case errors.Is(err, context.DeadlineExceeded):
		return FailedTimeout
	case errors.Is(err, ErrInvalidResult):
		return FailedInvalid
	default:
		return FailedError
	}
}

// Call is the call of one hook in a chain.
type Call struct {
	Entry      *Entry
	Result     Result        // zero if the call failed
	Failure    Failure       // class of the failure; empty if there was none
	Err        error         // cause of the failure
	FailedOpen bool          // the hook failed and was skipped
	Start      time.Time     // of the call; zero if there was none
	Took       time.Duration // from the call to the answer
	Group      int           // number of the group of hooks called concurrently, from 1; 0 if called alone
}

// Called reports whether the hook got the event. It did not if its match failed or it had no live
// worker.
func (c Call) Called() bool { return c.Failure != FailedMatch && c.Failure != FailedNoResponder }

// Outcome is what a chain decided and how.
type Outcome struct {
	Result   Result          // the single answer
	DeniedBy string          // id of the hook that denied; empty if none did
	Data     json.RawMessage // the data as the chain left it
	Calls    []Call          // in execution order
	Skipped  []*Entry        // their match was false, or they were removed after the chain began
	InVain   []Call          // concurrent calls whose answers do not count, since an earlier hook denied or added labels
	Labels   []string        // added by hooks and new to the session; also set after a denial
}

// Plan says how to call the entries of a chain.
type Plan struct {
	// Call calls an enforced hook. Its context ends with the hook's time or the chain's. Nil calls
	// [Entry.Hook].
	Call Caller
	// Timed declares that Call returns by the Deadline of its context on its own. The context then
	// has no timer.
	Timed bool
	// Until is when the chain's time ends; zero means the context's deadline. It needs no timer.
	Until time.Time
	// Shadow is called for each shadow hook, with the data at its place in the chain. It must not
	// block. Nil skips shadow hooks.
	Shadow func(entry *Entry, ev events.Event)
	// OneByOne disables concurrent calls.
	OneByOne bool
}

// Run runs an event through entries in order and returns the outcome. It calls adjacent hooks that
// only validate concurrently and all other hooks one after the other; the outcome is the same. A
// call must return when its context ends, since Run waits for all calls that it started. Entries
// that observe are skipped: they are called after the answer. An error means that nothing was
// decided. It is [ErrDeadline], the cause of the context's cancellation, or the Err of an [Abort].
func Run(ctx context.Context, entries []*Entry, ev events.Event, plan Plan) (out Outcome, err error) {
	out = Outcome{Data: ev.Data, Calls: make([]Call, 0, min(len(entries), 16))}
	view := ViewOf(ev)
	plan.Until = plan.end(ctx)
	var beside *group
	groups := 0
	defer func() { out.InVain = append(out.InVain, beside.stop()...) }()
	for i, entry := range entries {
		if entry.Observes() {
			continue
		}
		if plan.over(ctx, 0) {
			return out, cause(ctx)
		}
		ev.Data = out.Data
		var call Call
		var wanted bool
		if entry.validates() {
			if beside.empty() {
				beside.stop()
				beside = plan.begin(ctx, groups, plan.neighbors(entries[i:]), view, ev)
				groups = max(groups, beside.n)
			}
			call, wanted = beside.take()
		} else {
			call, wanted = plan.step(ctx, entry, view, ev)
		}
		if !wanted {
			out.Skipped = append(out.Skipped, entry)
			continue
		}
		if !entry.Enforced() {
			continue
		}
		if call.Failure != "" {
			if abort, ok := errors.AsType[Abort](call.Err); ok {
				return out, abort.Err
			}
			if plan.over(ctx, grace) {
				return out, cause(ctx)
			}
		}
		call.FailedOpen = call.Failure != "" && entry.OnFailure != FailClosed
		out.Calls = append(out.Calls, call)
		added := events.NewLabels(ev.Labels(), call.Result.Labels)
		if len(added) > 0 {
			out.Labels = append(out.Labels, added...)
			ev = ev.WithLabels(added...)
			ev.Data = out.Data
			view = ViewOf(ev)
			if call.Result.Action != Deny { // concurrent calls did not see the labels; make them again
				out.InVain = append(out.InVain, beside.stop()...)
				beside = nil
			}
		}
		switch {
		case call.Failure != "" && !call.FailedOpen:
			return out.deny(entry, failureDenial(call)), nil
		case call.Result.Action == Deny:
			return out.deny(entry, call.Result), nil
		case call.Result.Action == Modify && call.Result.Data != nil:
			out.Data = call.Result.Data
			ev.Data = out.Data
			view = ViewOf(ev)
		}
	}
	out.Result = out.sum(ev.Name)
	return out, nil
}

// step evaluates the condition of an entry, and calls it if it matches and is enforced.
func (p Plan) step(ctx context.Context, entry *Entry, view *View, ev events.Event) (Call, bool) {
	call, wanted := match(entry, view)
	switch {
	case !wanted || call.Failure != "":
		return call, wanted
	case !entry.Enforced():
		if p.Shadow != nil {
			p.Shadow(entry, ev)
		}
		return call, true
	default:
		return p.ask(ctx, entry, ev)
	}
}

// match evaluates the condition of an entry. An error is a failure of the hook.
func match(entry *Entry, view *View) (Call, bool) {
	call := Call{Entry: entry}
	if entry.Condition == nil {
		return call, true
	}
	wanted, err := entry.Condition(view)
	if err != nil {
		call.Failure, call.Err = FailedMatch, err
	}
	return call, wanted || err != nil
}

// ask calls an enforced hook. It returns false if the hook was removed after the chain began.
func (p Plan) ask(ctx context.Context, entry *Entry, ev events.Event) (Call, bool) {
	call := Call{Entry: entry, Start: time.Now()}
	call.Result, call.Err = p.call(ctx, call.Start, entry, ev)
	if errors.Is(call.Err, ErrRemoved) {
		return call, false
	}
	call.Took = time.Since(call.Start)
	call.Result.ContextInjections = nil // only chains set it
	if call.Err == nil && entry.Effect == Validates {
		call.Err = call.Result.changesNothing()
	}
	if call.Failure = FailureOf(call.Err); call.Failure != "" {
		call.Result = Result{Policy: call.Result.Policy}
	}
	return call, true
}

// call calls an enforced hook within its own time and the chain's.
func (p Plan) call(ctx context.Context, start time.Time, entry *Entry, ev events.Event) (Result, error) {
	until := start.Add(entry.Timeout())
	if !p.Until.IsZero() && p.Until.Before(until) {
		until = p.Until
	}
	if p.Timed {
		return p.Call(timed{ctx, until}, entry, ev) //nolint:contextcheck // timed embeds ctx
	}
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	if p.Call == nil {
		return entry.Hook(ctx, ev)
	}
	return p.Call(ctx, entry, ev)
}

// timed is a context whose deadline does not end it.
type timed struct {
	context.Context
	until time.Time
}

// Deadline returns when a [Caller] must return.
func (t timed) Deadline() (time.Time, bool) { return t.until, true }

// end returns when the chain's time ends: the earlier of Until and the context's deadline, or zero.
func (p Plan) end(ctx context.Context) time.Time {
	end, ok := ctx.Deadline()
	if ok && (p.Until.IsZero() || end.Before(p.Until)) {
		return end
	}
	return p.Until
}

// grace is how long before the end of a chain a hook may time out without being blamed: clocks and
// timers of two processes do not agree to the millisecond.
const grace = 5 * time.Millisecond

// over reports whether the chain's time has ended, or will end within margin.
func (p Plan) over(ctx context.Context, margin time.Duration) bool {
	return ctx.Err() != nil || !p.Until.IsZero() && time.Until(p.Until) <= margin
}

func cause(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Cause(ctx)
	}
	return ErrDeadline
}
