package agenthook

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Dialect is how one agent speaks to its hooks.
type Dialect struct {
	Name  string // as on the command line
	Agent string // for people
	Tried string // the version that the table was tried with

	// Timeout is how long the agent waits for a hook by default.
	Timeout time.Duration
	// EventMember is the member of the agent's document that names the event; empty if
	// only the command line does.
	EventMember string
	// Rename maps members of the document to those of the standard events. The others stay
	// as they are.
	Rename map[string]string
	// SessionEnv is the variable in which the agent names its session to the programs that
	// it runs; empty if it does not.
	SessionEnv string
	Events     []Event
	// FailsOpen says that the agent goes on if a hook is killed, as `hookctl connect` sets
	// the hook up.
	FailsOpen bool
	// Notes are further facts for the agent's page, a sentence each.
	Notes []string

	// write returns the answer in the agent's form: a JSON object; nil for nothing.
	write func(e Event, a answer) any
	// block is what blocks an unknown event; nil for the form of Claude Code.
	block func(reason string) any
}

// blockAny is what blocks an unknown event.
func (d Dialect) blockAny(reason string) any {
	if d.block != nil {
		return d.block(reason)
	}
	return claudeStop{Continue: false, StopReason: reason, Decision: "block", Reason: reason}
}

// Event is one hook event of an agent, and what the agent lets a hook do there.
type Event struct {
	Native string // the agent's name for it
	Name   string // the event here
	// Deny is what a denial does. The zero Effect: nothing.
	Deny Effect
	// Modify is the member of the data that a hook may change; empty for none.
	Modify string
	// Merges says that the agent merges the changed member into its own, so that a hook
	// can remove nothing.
	Merges bool
	// AnyType says that a change may give the member another type. Otherwise the agent would
	// ignore such a change.
	AnyType bool
	// Text is a member of the changed member that must stay a text: otherwise the agent would
	// ignore the change.
	Text string
	// Inject says that the model gets the context that hooks add.
	Inject bool
	// Message says that the user is shown what hooks say.
	Message bool
	// Timeout overrides that of the dialect; zero: it does not.
	Timeout time.Duration
	// Copy maps members of the standard event to those of the agent's that they are
	// copied from.
	Copy map[string]string
	// Skip names a member that must not be an empty text: otherwise the agent only
	// repeats an event.
	Skip string

	// withhold returns what replaces a denied result in the agent's document, if the reason alone
	// does not; nil if it does.
	withhold func(document []byte) json.RawMessage
}

// Effect is what an agent does if a hook denies.
type Effect string

// The effects. The zero Effect is that the agent goes on.
const (
	Stops   Effect = "stops"    // the operation does not happen
	Hides   Effect = "hides"    // the model gets the reason in place of the result, or of the prompt
	Tells   Effect = "tells"    // it has happened; the model also gets the reason
	KeepsOn Effect = "keeps on" // the agent does not end its turn, and gets the reason as its task
)

// Gated reports whether nothing passes without a verdict.
func (e Event) Gated() bool { return e.Deny == Stops || e.Deny == Hides }

// Obeys reports whether the agent obeys anything at this event.
func (e Event) Obeys() bool { return e.Deny != "" || e.Modify != "" || e.Inject || e.Message }

// answer is what to tell the agent. The zero answer lets it go on.
type answer struct {
	deny    bool
	reason  string          // why, for the model
	changed json.RawMessage // the new value of the member that Event.Modify names; nil for no change
	context string          // for the model
	message string          // for the user
}

// empty reports whether there is nothing to say.
func (a answer) empty() bool {
	return !a.deny && a.changed == nil && a.context == "" && a.message == ""
}

// Dialects returns all dialects.
func Dialects() []Dialect {
	return []Dialect{claudeCode(), codex(), gemini(), copilot(), goose(), qwen(), opencode()}
}

// agentEvent is an event of an agent.
type agentEvent struct {
	agent string
	event Event
}

// gatedElsewhere finds a gated event of any agent by its letters alone: agents differ in the case
// of a name, and in what is between its words.
func gatedElsewhere(native string) (agentEvent, bool) {
	for _, d := range Dialects() {
		for _, e := range d.Events {
			if e.Gated() && letters(e.Native) == letters(native) {
				return agentEvent{d.Agent, e}, true
			}
		}
	}
	return agentEvent{}, false
}

// own finds an event of the dialect by its letters alone.
func (d Dialect) own(native string) (Event, bool) {
	i := slices.IndexFunc(d.Events, func(e Event) bool { return letters(e.Native) == letters(native) })
	if i < 0 {
		return Event{}, false
	}
	return d.Events[i], true
}

// letters returns the letters of a name in lower case.
func letters(name string) string {
	return strings.Map(func(c rune) rune {
		if c = unicode.ToLower(c); c < 'a' || c > 'z' {
			return -1
		}
		return c
	}, name)
}

// Find returns the dialect of a name.
func Find(name string) (Dialect, bool) {
	all := Dialects()
	i := slices.IndexFunc(all, func(d Dialect) bool { return d.Name == name })
	if i < 0 {
		return Dialect{}, false
	}
	return all[i], true
}

// Probe is a gated event of all dialects that no agent sends: `hookctl doctor` uses it to
// try the way to the router.
const Probe = "hookctl-doctor"

// ProbeName is what [Probe] is called on the bus.
const ProbeName = "hook-agent:doctor"

// Event returns the event that the agent calls native.
func (d Dialect) Event(native string) (Event, bool) {
	if native == Probe {
		return Event{Native: Probe, Name: ProbeName, Deny: Stops}, true
	}
	i := slices.IndexFunc(d.Events, func(e Event) bool { return e.Native == native })
	if i < 0 {
		return Event{}, false
	}
	return d.Events[i], true
}
