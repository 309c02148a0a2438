package workerfile

import (
	"regexp"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Test is a case of the section tests: one event, or several in order, and what must
// come of them.
type Test struct {
	// Name says what holds; no other test of the file has it.
	Name string `json:"name" jsonschema:"required"`
	// SessionID is the session of the events; empty means none.
	SessionID string `json:"session_id"`
	// Labels are what the session has seen before the first event. Those that hooks give are
	// added to them from one event to the next.
	Labels []string `json:"labels"`
	// Emitter is who the connection proves to send the events; without it nobody.
	Emitter *Emitter `json:"emitter"`
	// Lineage is where the session stands among its sub-agents; without it at the root.
	Lineage *Lineage `json:"lineage"`
	// Now is the time at the first event, as RFC 3339 has it; empty means
	// 2026-01-05T12:00:00Z, a Monday.
	Now string `json:"now"`
	// Assume is what hooks are taken to answer, by id, instead of being called: an action,
	// failed, or a result.
	Assume map[string]Assumed `json:"assume"`
	// Events are what happens, where it is more than one event. What hooks remember is
	// kept from one to the next.
	Events []Step `json:"events"`
	Step

	Start    time.Time `json:"-"` // what Now says
	Warnings []error   `json:"-"` // what is probably not meant, each an [*Error]
}

// Emitter is who sends the events of a test.
type Emitter struct {
	// ID is the proven identity, such as nats agent/coder.
	ID string `json:"id" jsonschema:"required"`
	// Role is that of the identity; empty where routers know none.
	Role string `json:"role" jsonschema:"enum=agent,enum=approver,enum=operator,enum=admin"`
}

// Lineage is where the session of a test stands in the tree of sub-agents.
type Lineage struct {
	// Root is the session at the root; empty means the parent.
	Root string `json:"root"`
	// Parent is the session that spawned this one.
	Parent string `json:"parent" jsonschema:"required"`
	// Depth is how many sessions are above; 0 means 1.
	Depth int `json:"depth"`
}

// Step is one event of a test.
type Step struct {
	// Event is its name, such as tool:pre.
	Event string `json:"event"`
	// Data is its data; empty means none.
	Data jsontext.Value `json:"data" jsonschema:"type=object"`
	// After is how much time has passed since the event before, such as 90s or 24h.
	After string `json:"after"`
	// Times is how often it happens, each time with the same expectation; 0 means once.
	Times int `json:"times"`
	// Expect is what must come of it; nil where anything may.
	Expect *Expect `json:"expect"`

	Wait time.Duration `json:"-"` // what After says
	Line int           `json:"-"` // where it stands
}

// Expect is what must come of an event. What is not given may be anything.
type Expect struct {
	// Action is what the hooks add up to: continue, deny, modify (other data and nothing
	// else), inject_context or ask_user.
	Action chain.Action `json:"action" jsonschema:"enum=continue,enum=deny,enum=modify,enum=inject_context,enum=ask_user"`
	// By is the id of the hook that denied, asked first, injected first or modified last.
	By string `json:"by"`
	// Reason is that of the denial or the change.
	Reason *Text `json:"reason"`
	// Data is what the data must have as the hooks leave it; it may have more.
	Data jsontext.Value `json:"data" jsonschema:"type=object"`
	// Inject is the text for the agent's context.
	Inject *Text `json:"inject"`
	// Ask is the prompt of an approval request.
	Ask *Text `json:"ask"`
	// Labels are exactly those that the hooks add to the session's.
	Labels []string `json:"labels"`
	// UserMessage is one that some hook gives to the user.
	UserMessage *Text `json:"user_message"`
	// Hooks say what single hooks did, by id: an action, failed, skipped (its match did
	// not hold, or it does not want the event), told (in mode observe), not reached (after
	// a denial), or not called (in mode shadow, and acts in the world). Else a hook in mode
	// shadow did what it would have done.
	Hooks map[string]Effect `json:"hooks"`
}

// Text is what a text must be: in a file a text, which it must equal, or a mapping.
type Text struct {
	Is *string `json:"-"` // the text
	// Contains is a part of it.
	Contains string `json:"contains"`
	// Matches is a regular expression (RE2) that some part of it matches.
	Matches string `json:"matches"`

	Pattern *regexp.Regexp `json:"-"` // what Matches says; nil where it is empty
}

// UnmarshalJSONFrom decodes a text or a mapping.
func (t *Text) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '"' {
		return jsonv2.UnmarshalDecode(dec, &t.Is)
	}
	type members Text
	return jsonv2.UnmarshalDecode(dec, (*members)(t))
}

// Effect is what a hook did with an event.
type Effect string

// The effects of a hook other than a [chain.Action].
const (
	Failed     Effect = "failed"      // the hook could not decide
	Skipped    Effect = "skipped"     // not called: its match did not hold, or it does not want the event
	Observed   Effect = "told"        // observed, and so could not answer
	NotReached Effect = "not reached" // comes after the hook that denied
	NotCalled  Effect = "not called"  // in mode shadow, and has side effects
)

// Effects returns all effects.
func Effects() []Effect {
	return []Effect{
		Effect(chain.Continue), Effect(chain.Deny), Effect(chain.Modify), Effect(chain.InjectContext), Effect(chain.AskUser),
		Failed, Skipped, Observed, NotReached, NotCalled,
	}
}

// defaultStart is the time of a test that does not set one. It is fixed, so that a test has the
// same result every day.
var defaultStart = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
