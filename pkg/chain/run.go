package chain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Failure is the class of a hook's failure; empty means it did not fail.
type Failure string

// The failure classes.
const (
	FailedError       Failure = "error"          // the hook answered with an error
	FailedTimeout     Failure = "timeout"        // no answer in its time
	FailedNoResponder Failure = "no_responder"   // no worker answers
	FailedInvalid     Failure = "invalid_result" // the answer is no valid result
	FailedMatch       Failure = "match_error"    // its match could not be evaluated
)

// ErrNoResponder is wrapped by the error of a [Caller] whose hook has no live worker.
var ErrNoResponder = errors.New("no worker answers for this hook")

// ErrRemoved is wrapped by the error of a [Caller] whose hook was removed after the chain began.
// [Run] skips it, as if the chain began now.
var ErrRemoved = fmt.Errorf("%w: it is not registered any more", ErrNoResponder)

// Abort is the error of a [Caller] that ends the chain: nothing is decided, and [Run] returns Err. A
// concurrent call of an earlier hook may still deny.
type Abort struct{ Err error }

func (a Abort) Error() string { return a.Err.Error() }

// Unwrap returns Err.
func (a Abort) Unwrap() error { return a.Err }

// ErrDeadline means that the chain's time was over before every hook answered.
var ErrDeadline = errors.New("the time for the chain is over")

// FailureOf is the class of a [Caller]'s error; empty for nil.
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

// Call is one call of a hook in a chain.
type Call struct {
	Entry      *Entry
	Result     Result        // the zero Result if it failed
	Failure    Failure       // why it failed; empty if it did not
	Err        error         // cause of the failure
	FailedOpen bool          // it failed and was skipped
	Start      time.Time     // of the call; zero without a call
	Took       time.Duration // from the call to the answer
	Group      int           // of hooks called concurrently, counted from 1; 0: called alone
}

// Called reports whether the hook got the event. It did not if its match failed or no worker
// answered.
func (c Call) Called() bool { return c.Failure != FailedMatch && c.Failure != FailedNoResponder }

// Outcome is what a chain decided, and how.
type Outcome struct {
	Result   Result          // the one answer
	DeniedBy string          // id of the hook that denied; empty if none did
	Data     json.RawMessage // the data as the chain left it
	Calls    []Call          // in execution order
	Skipped  []*Entry        // whose match was false, or that were removed meanwhile
	InVain   []Call          // concurrent with a hook that denied or added labels: their answers do not count
	Labels   []string        // that hooks added and the event's session did not have; also after a denial
}

// Plan says how to call the entries of a chain.
type Plan struct {
	// Call calls an enforced hook with a context that ends with the hook's time or the chain's;
	// nil calls [Entry.Hook].
	Call Caller
	// Timed says that Call returns by the Deadline of its context without being told. The context
	// has no timer of its own then.
	Timed bool
	// Until is when the chain's time is over; the zero time means the context's end. It needs no
	// timer of its own.
	Until time.Time
	// Shadow is called for each shadow hook, with the data at its place. It must not block. Nil
	// skips shadow hooks.
	Shadow func(entry *Entry, ev events.Event)
	// OneByOne disables concurrent calls.
	OneByOne bool
}

// Run runs the event through the entries in order and returns the outcome. It calls neighbors
// that only validate concurrently, and other hooks one after the other; the outcome is the same.
// A call must return when its context ends, since Run waits for all calls that it began. Entries
// in mode observe are skipped: they are notified after the answer. An error is [ErrDeadline] or
// the context's cause: nothing was decided.
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
			if call.Result.Action != Deny { // concurrent calls did not see the labels, so they are made again
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

// step asks one entry whether it wants the event, and calls it if it is enforced.
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

// match asks an entry whether it wants the event. A failure to tell is a failure of the hook.
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

// ask calls an enforced hook. It returns false if the hook was removed meanwhile.
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

// timed is a context that does not end at its deadline by itself.
type timed struct {
	context.Context
	until time.Time
}

// Deadline is when a [Caller] returns.
func (t timed) Deadline() (time.Time, bool) { return t.until, true }

// end is when the chain's time is over, by the plan or the context.
func (p Plan) end(ctx context.Context) time.Time {
	end, ok := ctx.Deadline()
	if ok && (p.Until.IsZero() || end.Before(p.Until)) {
		return end
	}
	return p.Until
}

// grace is how long before the end of a chain a hook may give up for lack of time: clocks and
// timers of two processes do not agree to the millisecond.
const grace = 5 * time.Millisecond

// over reports whether the chain's time is over, or will be within margin.
func (p Plan) over(ctx context.Context, margin time.Duration) bool {
	return ctx.Err() != nil || !p.Until.IsZero() && time.Until(p.Until) <= margin
}

func cause(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Cause(ctx)
	}
	return ErrDeadline
}
