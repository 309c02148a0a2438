package agenthook

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Dialect describes the hook protocol of one agent.
type Dialect struct {
	Name  string // on the command line
	Agent string // for people
	Tried string // the version of the agent that the table was tested with
	// Oldest is the oldest version that runs the hooks for the events that it knows if the settings
	// name others too; empty for any.
	Oldest string

	// Timeout is the agent's default timeout for a hook.
	Timeout time.Duration
	// EventMember is the member of the agent's document that names the event; empty if only the
	// command line names it.
	EventMember string
	// Foreign are members that only other programs' documents have. They would not read the answer to
	// a gated event, which is therefore blocked by the exit code.
	Foreign []string
	// Rename maps members of the document to members of the standard events. Other members keep their
	// names.
	Rename map[string]string
	// SessionEnv is the environment variable with the session id that the agent sets for the programs
	// it runs; empty if it sets none.
	SessionEnv string
	Events     []Event
	// FailsOpen says that the agent continues if a hook that `hookctl connect` set up is killed.
	FailsOpen bool
	// FailsOpenBefore is the first version that blocks in that case, if older ones continue; else empty.
	FailsOpenBefore string
	// Notes are further facts for the agent's documentation page.
	Notes []string

	// write returns the answer in the agent's format, which encodes to a JSON object; nil for no
	// output.
	write func(e Event, a answer) any
	// block returns the output that blocks an unknown event; nil for the format of Claude Code.
	block func(reason string) any
}

// blockAny returns the output that blocks an unknown event.
func (d Dialect) blockAny(reason string) any {
	if d.block != nil {
		return d.block(reason)
	}
	return claudeOutput{Continue: new(bool), StopReason: reason, Decision: "block", Reason: reason}
}

// Event is a hook event of an agent, and what the agent supports at it.
type Event struct {
	Native string // the agent's name for it
	Name   string // the name of the standard event
	// Deny is the effect of a denial; the zero Effect means none.
	Deny Effect
	// Modify is the member of the data that a hook may change; empty for none.
	Modify string
	// Merges says that the agent merges the changed member into the original, so that a hook can't
	// remove anything from it.
	Merges bool
	// AnyType says that a change may give the member another JSON type. If false, the agent ignores
	// such a change.
	AnyType bool
	// Text names a member of the changed member that must remain a string; otherwise the agent ignores
	// the change.
	Text string
	// Inject says that the agent passes the context that hooks add to the model.
	Inject bool
	// Message says that the agent shows the messages of hooks to its user.
	Message bool
	// Timeout overrides the timeout of the dialect unless it is 0.
	Timeout time.Duration
	// Copy maps members of the standard event to the members of the document that they are copied
	// from.
	Copy map[string]string
	// Since is the agent's first version with the event; empty for all that [Dialect.Oldest] permits.
	Since string
	// Skip names a member whose empty string marks a repeated event, which is not sent to the router.
	Skip string

	// call returns the tool call as which the event is judged. It is nil if the document has one, or
	// the event is none.
	call func(document events.Object) (tool string, input []byte)
	// fits reports whether the agent applies a change of the member Modify, by the name of the tool. It
	// is nil if the other fields say all.
	fits func(tool string, before, now jsontext.Value) bool
	// ungates returns why a tool is denied whatever the hooks say, or "": it makes calls for which the
	// agent fires no event. It is nil if there is no such tool.
	ungates func(tool string, o Options) (reason string)
	// withhold returns the replacement of a denied result in the agent's document; ok is false if
	// there is none, and the agent must stop. It is nil if the reason alone replaces the result.
	withhold func(document []byte) (replacement json.RawMessage, ok bool)
}

// Effect is what an agent does with a denial.
type Effect string

// The effects. The zero Effect means that the agent ignores a denial.
const (
	Stops   Effect = "stops"    // the operation is not performed
	Hides   Effect = "hides"    // the model gets the reason in place of the result or the prompt
	KeepsOn Effect = "keeps on" // the agent does not end its turn; the reason is its next task
)

// Gated reports whether the event must not pass without a verdict.
func (e Event) Gated() bool { return e.Deny == Stops || e.Deny == Hides }

// Obeys reports whether a verdict can have any effect at this event.
func (e Event) Obeys() bool { return e.Deny != "" || e.Modify != "" || e.Inject || e.Message }

// answer is the answer to the agent. The zero answer lets it continue.
type answer struct {
	deny    bool
	reason  string          // for the model
	changed json.RawMessage // the new value of the member Event.Modify; nil for no change
	stop    bool            // the agent must stop, since the denied result can't be withheld
	context string          // for the model
	message string          // for the user
}

// empty reports whether the answer has no content.
func (a answer) empty() bool {
	return !a.deny && a.changed == nil && a.context == "" && a.message == ""
}

// Dialects returns all dialects.
func Dialects() []Dialect {
	return []Dialect{claudeCode(), codex(), gemini(), copilot(), goose(), qwen(), opencode()}
}

// gatedElsewhere finds a gated event of any agent by the letters of its name, since agents differ
// in case and in word separators.
func gatedElsewhere(native string) (agent string, e Event, found bool) {
	for _, d := range Dialects() {
		for _, e := range d.Events {
			if e.Gated() && letters(e.Native) == letters(native) {
				return d.Agent, e, true
			}
		}
	}
	return "", Event{}, false
}

// byLetters finds an event of the dialect by the letters of its name.
func (d Dialect) byLetters(native string) (Event, bool) {
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

// Find returns the dialect with a name.
func Find(name string) (Dialect, bool) {
	all := Dialects()
	i := slices.IndexFunc(all, func(d Dialect) bool { return d.Name == name })
	if i < 0 {
		return Dialect{}, false
	}
	return all[i], true
}

// Probe is a gated event of all dialects that no agent sends. `hookctl doctor` uses it to test the
// connection to the router.
const Probe = "hookctl-doctor"

// ProbeName is the name of the standard event for [Probe].
const ProbeName = "hook-agent:doctor"

// Event returns the event with the agent's name native.
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
