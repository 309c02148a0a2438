package limits

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// The values of [Rule.Per].
const (
	PerSession  = "session"
	PerTree     = "tree"     // the root session with all its sub-agents, as the agents claim
	PerIdentity = "identity" // the authenticated sender; all unauthenticated senders count as one
	PerAgent    = "agent"    // the source of the event, as the agent claims
	PerTool     = "tool"     // its name
	PerClass    = "class"    // of the tool
)

// The values of [Rule.Then].
const (
	Deny = "deny"
	Ask  = "ask"
)

// maxWithin is the longest window: the store keeps counts for this long after the last addition.
const maxWithin = 24 * time.Hour

// Rule is one limit, or several that are counted alike.
type Rule struct {
	// Per says what has a count of its own: session, tree, identity, agent, tool, class, or
	// several of them; empty means that all count together.
	Per []string `json:"per"`
	// Tools are the tools that count, by name or class, with *; empty means all.
	Tools builtin.Tools `json:"tools"`
	// Calls of tools that are allowed; 0 means any number.
	Calls int64 `json:"calls"`
	// Tokens that the model may read and write; 0 means any number.
	Tokens int64 `json:"tokens"`
	// Cost is what the model may cost, in the money of the events or prices; 0 means
	// anything.
	Cost float64 `json:"cost"`
	// Within is the time that the limit is for, from 1s to 24h, such as 1m; empty means
	// the whole session.
	Within string `json:"within"`
	// Then is deny or ask; empty means deny.
	Then string `json:"then"`
}

// rule is a checked Rule.
type rule struct {
	Rule
	within time.Duration // 0 for the whole session
	id     string        // a hash of the rule: identical rules share a count
}

func (r Rule) check(at jsontext.Pointer) (checked rule, err error) {
	for i, per := range r.Per {
		if known := []string{PerSession, PerTree, PerIdentity, PerAgent, PerTool, PerClass}; !slices.Contains(known, per) {
			return rule{}, kind.At(at+jsontext.Pointer(fmt.Sprintf("/per/%d", i)), "must be one of %s, not %q", strings.Join(known, ", "), per)
		}
	}
	if err := r.Tools.Check(at + "/tools"); err != nil {
		return rule{}, err
	}
	used := r.Tokens != 0 || r.Cost != 0
	switch {
	case r.Calls < 0 || r.Tokens < 0 || r.Cost < 0:
		return rule{}, kind.At(at, "a limit is negative")
	case r.Calls == 0 && !used:
		return rule{}, kind.At(at, "the rule limits nothing: give it calls, tokens or cost")
	case used && (len(r.Tools) > 0 || slices.Contains(r.Per, PerTool) || slices.Contains(r.Per, PerClass)):
		return rule{}, kind.At(at, "tokens and cost are the model's, not a tool's: leave tools, and per tool or class, out")
	case r.Then != "" && r.Then != Deny && r.Then != Ask:
		return rule{}, kind.At(at+"/then", "must be deny or ask, not %q", r.Then)
	case slices.Contains(r.Per, PerSession) && slices.Contains(r.Per, PerTree):
		return rule{}, kind.At(at+"/per", "a session is of one tree: name one of session and tree")
	case r.Within == "" && !slices.Contains(r.Per, PerSession) && !slices.Contains(r.Per, PerTree):
		return rule{}, kind.At(at, "the limit never frees: give it within, or per session or tree")
	}
	checked.Rule = r
	if r.Within != "" {
		if checked.within, err = time.ParseDuration(r.Within); err != nil || checked.within < time.Second || checked.within > maxWithin {
			return rule{}, kind.At(at+"/within", "must be a time from 1s to 24h, such as 1m, not %q", r.Within)
		}
	}
	text, err := json.Marshal(r)
	sum := sha256.Sum256(text)
	checked.id = base64.RawURLEncoding.EncodeToString(sum[:9])
	return checked, err
}

// key returns the count that an event adds to: the name of a state and the entry in it. All counts
// of a session are in one state, which is deleted when the session ends.
func (r rule) key(ev events.Event, tool events.Tool) (state, entry string) {
	entry = r.id
	for _, per := range r.Per {
		switch per {
		case PerIdentity:
			entry += "\nidentity " + ev.Extensions[events.AttrEmitter]
		case PerAgent:
			entry += "\nagent " + ev.Source
		case PerTool:
			entry += "\ntool " + tool.Name
		case PerClass:
			entry += "\nclass " + string(tool.Class)
		}
	}
	sum := sha256.Sum256([]byte(entry)) // the sender's strings have any length
	entry = base64.RawURLEncoding.EncodeToString(sum[:9])
	switch {
	case slices.Contains(r.Per, PerSession):
		return sessionState(ev), entry
	case slices.Contains(r.Per, PerTree):
		return treeState(ev), entry
	}
	return "all " + entry, entry
}

// own reports whether only the event's own session, tree or identity adds to the counts.
func (r rule) own() bool {
	return slices.ContainsFunc([]string{PerSession, PerTree, PerIdentity}, func(per string) bool { return slices.Contains(r.Per, per) })
}

// sessionState returns the name of the state with the counts of the event's session. Each identity
// has its own counts, so that it can't use up the limits of others.
func sessionState(ev events.Event) string {
	return "session " + ev.Extensions[events.AttrEmitter] + "\n" + ev.Session
}

// treeState returns the name of the state with the counts of the event's tree. Each identity has
// its own.
func treeState(ev events.Event) string {
	return "tree " + ev.Extensions[events.AttrEmitter] + "\n" + cmp.Or(ev.Extensions[events.AttrRoot], ev.Session)
}

// isRoot reports whether the event's session has no parent.
func isRoot(ev events.Event) bool { return ev.Extensions[events.AttrRoot] == "" }

// over returns the limit that is reached, such as "60 calls", or "". The totals include the use
// that is asked for.
func (r rule) over(calls, tokens int64, cost float64) string {
	switch {
	case r.Calls > 0 && calls > r.Calls:
		return fmt.Sprintf("%d calls", r.Calls)
	case r.Tokens > 0 && tokens >= r.Tokens:
		return fmt.Sprintf("%d tokens", r.Tokens)
	case r.Cost > 0 && cost >= r.Cost:
		return fmt.Sprintf("a cost of %g", r.Cost)
	}
	return ""
}

// scope describes what the limit applies to, for people.
func (r rule) scope() string {
	text := " in all"
	if r.within > 0 {
		text = " within " + r.Within
	}
	if len(r.Tools) > 0 {
		text = " of " + strings.Join(r.Tools, ", ") + text
	}
	if len(r.Per) > 0 {
		text += ", for each " + strings.Join(r.Per, " and ")
	}
	return text
}

func (r rule) then() string { return cmp.Or(r.Then, Deny) }
