package telemetry

import (
	"time"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// Chain describes what happened to one event. The router reports it after the answer.
type Chain struct {
	Verb, Event, Source       string // emit, execute, collect or contributions; the event's name; its CloudEvents source
	Channel                   string // of contributions
	Session, EventID, ChainID string
	Root                      string // root of the session's tree, if it is another session; with Depth
	Depth                     int
	Came, End                 time.Time
	Outcome                   *chain.Outcome // never nil
	Action                    string         // of the answer; empty means that of the outcome
	Injected, Dropped         []verdict.Injected
	Audited                   Interval // the wait for the records
	AuditMode                 string
	Approval                  string   // id of the approval request; empty if there is none
	Answers                   []Answer // of a collect or of contributions
	Refused                   int      // error code of the answer; 0 if there is none
}

// Interval is when something began and ended; zero if it did not happen.
type Interval struct{ From, To time.Time }

// action returns the action of the answer.
func (c *Chain) action() string {
	if c.Action != "" {
		return c.Action
	}
	return actionOf(c.Outcome.Result.Action)
}

// gates reports whether hooks could have denied a tool. They could not for a refused request, or
// for a collect, which decides nothing.
func (c *Chain) gates() bool {
	return c.Event == events.ToolPre && c.Verb != "collect" && c.Refused == 0
}

// Answer is a call outside of a chain's decision: of a collect, or of a shadow hook.
type Answer struct {
	Entry   *chain.Entry
	When    Interval
	Failure chain.Failure
}
