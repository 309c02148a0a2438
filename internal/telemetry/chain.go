package telemetry

import (
	"time"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// Chain is what happened to one event, as the router reports it after the answer.
type Chain struct {
	Verb, Event, Source       string // emit, execute, collect or contributions; the event's name; who emitted it
	Channel                   string // of contributions
	Session, EventID, ChainID string
	Root                      string // of the tree of its session, where it is another; with Depth
	Depth                     int
	Came, End                 time.Time
	Outcome                   *chain.Outcome // never nil
	Action                    string         // the answer's; empty means the outcome's
	Injected, Dropped         []verdict.Injected
	Audited                   Interval // the wait for the records
	AuditMode                 string
	Approval                  string   // the id of the approval request, empty for none
	Answers                   []Answer // of a collect, or of contributions
	Refused                   int      // the code of the refusal that was answered, 0 for none
}

// Interval is when something began and ended; zero means never.
type Interval struct{ From, To time.Time }

// action is the decision.
func (c *Chain) action() string {
	if c.Action != "" {
		return c.Action
	}
	return actionOf(c.Outcome.Result.Action)
}

// gates reports whether hooks could have denied a tool: not for a refused request, and
// not for a collect, which decides nothing.
func (c *Chain) gates() bool {
	return c.Event == events.ToolPre && c.Verb != "collect" && c.Refused == 0
}

// Answer is one call outside a chain: of a collect, or of a shadow hook.
type Answer struct {
	Entry   *chain.Entry
	When    Interval
	Failure chain.Failure
}
