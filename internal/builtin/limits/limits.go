package limits

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// DefaultRules apply if the options have no rules.
var DefaultRules = []Rule{
	{Per: []string{PerSession}, Calls: 120, Within: "1m"},
	{Per: []string{PerSession}, Calls: 5000},
}

// maxRules limits the rules of one hook.
const maxRules = 16

// Options of the builtin. The zero Options have the [DefaultRules].
type Options struct {
	// Rules are the limits, at most 16; each holds by itself.
	Rules []Rule `json:"rules"`
	// Prices are for events that tell tokens and no cost.
	Prices Prices `json:"prices"`

	// Now is the clock; nil means that of the call, see [kind.GivenTime], or else of the store.
	Now func() time.Time `json:"-"`
}

// Builtin is limits.
var Builtin = builtin.Of("Limits the calls of tools, the tokens and the cost of sessions, agents and tools.",
	chain.Registration{
		Events:   []string{events.PromptSubmit, events.ToolPre, events.LLMRequest, events.LLMResponse, events.SessionEnd},
		Priority: -10, OnFailure: chain.FailClosed,
	}, New)

// limiter is a configured limits hook.
type limiter struct {
	rules  []rule
	prices Prices
	states hookstate.Sessions[book]
	clock  func(context.Context) (now func() time.Time, err error)
	log    *slog.Logger
}

// New builds the hook.
func New(s kind.Section, o Options) (kind.Hook, error) {
	l := limiter{prices: o.Prices, states: builtin.StateOf[book](s, "limits"), log: builtin.LogOf(s)}
	l.clock = func(ctx context.Context) (now func() time.Time, err error) {
		if t, given := kind.GivenTime(ctx); given {
			return func() time.Time { return t }, nil
		}
		told, err := l.states.Now(ctx)
		came := time.Now()
		return func() time.Time { return told.Add(time.Since(came)) }, err
	}
	if o.Now != nil {
		l.clock = func(context.Context) (func() time.Time, error) { return o.Now, nil }
	}
	if o.Prices.Input < 0 || o.Prices.Output < 0 {
		return kind.Hook{}, kind.At("/prices", "a price is negative")
	}
	if len(o.Rules) > maxRules {
		return kind.Hook{}, kind.At("/rules", "at most %d rules, not %d", maxRules, len(o.Rules))
	}
	if len(o.Rules) == 0 {
		o.Rules = DefaultRules
	}
	for i, r := range o.Rules {
		checked, err := r.check(jsontext.Pointer("/rules").AppendToken(strconv.Itoa(i)))
		if err != nil {
			return kind.Hook{}, err
		}
		l.rules = append(l.rules, checked)
	}
	return kind.Hook{Handler: l.handle}, nil
}

func (l limiter) handle(ctx context.Context, ev events.Event) (chain.Result, error) {
	if ev.Name == events.SessionEnd {
		l.forget(ctx, ev)
		return chain.Result{}, nil
	}
	data, err := events.ParseObject(ev.Data)
	if err != nil {
		return chain.Result{}, err
	}
	u := use{ev: ev}
	u.tool, u.isTool = data.Tool(ev.Name)
	switch ev.Name {
	case events.ToolPre:
		u.asked.Calls = 1
	case events.PromptSubmit, events.LLMRequest, events.ProviderRequest:
	default:
		u.asked, u.past = usageOf(data, l.prices), true
		if u.isTool || u.asked == (slot{}) {
			return chain.Result{}, nil
		}
	}
	return l.countAll(ctx, u)
}

// use is what an event would use, or has used.
type use struct {
	ev     events.Event
	tool   events.Tool
	isTool bool
	asked  slot // the use if the event is allowed
	past   bool // the use has already happened

	checkOnly bool // check the limits without counting
}

// forget deletes the counts of a session that ends, and those of its tree if it is the root.
func (l limiter) forget(ctx context.Context, ev events.Event) {
	states := []string{sessionState(ev)}
	perTree := func(r rule) bool { return slices.Contains(r.Per, PerTree) }
	if isRoot(ev) && slices.ContainsFunc(l.rules, perTree) {
		states = append(states, treeState(ev))
	}
	for _, state := range states {
		if err := l.states.Forget(ctx, state); err != nil {
			l.log.Warn("counts of an ended session not deleted; they expire within a day", "session_id", ev.Session, "error", err)
		}
	}
}

// frees names what has to end for the count to be deleted.
func (r rule) frees() string {
	if slices.Contains(r.Per, PerTree) {
		return "session at the root"
	}
	return "session"
}

// stop returns the result for a reached limit. The text of an approval request is always the same,
// so that "Allow always" applies to the rest of the session.
func (r rule) stop(what string, c count, asked slot, now time.Time) chain.Result {
	text := "The limit of " + what + r.scope() + " is reached"
	if r.then() == Ask {
		return chain.Question(text+". Go on?", "Allow once", "Allow always", "Deny")
	}
	if r.within == 0 {
		return chain.Denial(text + "; it frees when the " + r.frees() + " ends.")
	}
	at := c.frees(r, asked)
	return chain.Denial(fmt.Sprintf("%s; it frees in %v, at %s.", text, at.Sub(now).Round(time.Second), at.UTC().Format(time.RFC3339)))
}
