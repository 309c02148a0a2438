package agenthook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/shorten"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// obey returns the answer for a verdict. A change that the agent would ignore becomes a denial.
// Denials and context that have no effect at the event are only noted.
func (h *Hook) obey(in input, v verdict.Verdict) answer {
	e := in.event
	a := answer{deny: v.Action != verdict.Continue, reason: v.Reason, context: injected(v), message: shown(append(v.Display, decided(v)...)...)}
	if !a.deny {
		var lost string
		a.changed, lost = change(e, in, v)
		switch a.deny = lost != "" && e.Deny != KeepsOn; {
		case a.deny:
			a.changed, a.reason = nil, paragraphs(v.Reason, lost)
		case lost != "":
			h.note(own(chain.LevelWarning, "%s takes no change at %s: %s", h.Dialect.Agent, e.Native, lost))
		}
	}
	if !a.deny && e.ungates != nil {
		if why := e.ungates(in.tool(), h.Options); why != "" {
			a.deny, a.reason, a.changed = true, why, nil
		}
	}
	if a.deny {
		a.reason = paragraphs(a.reason, a.context)
		a.context = ""
		if a.reason == "" {
			a.reason = "Denied by a hook, which gave no reason."
		}
	}
	if a.deny && e.Deny == "" && (in.known || v.Action == verdict.Continue) {
		h.note(own(chain.LevelWarning, "%s can't be stopped at %s: %s", h.Dialect.Agent, e.Native, a.reason))
		a.deny, a.reason = false, ""
	}
	if a.context != "" && !e.Inject {
		h.note(own(chain.LevelWarning, "%s takes no context at %s; lost: %s", h.Dialect.Agent, e.Native, a.context))
		a.context = ""
	}
	return a
}

// change returns the new value of the member that the agent lets hooks change; nil if it is
// unchanged. lost describes a change that the agent would ignore.
func change(e Event, in input, v verdict.Verdict) (changed json.RawMessage, lost string) {
	if v.Data == nil || bytes.Equal(v.Data, in.data) {
		return nil, ""
	}
	after, err := events.ParseObject(v.Data)
	if err != nil {
		return nil, "The policy changed this to something that can't be read."
	}
	for name, before := range in.members.All() {
		now, there := after.Get(name)
		switch {
		case name == "timestamp" || there && same(before, now):
		case name == e.Modify && there && e.takes(in.tool(), before, now):
			changed = json.RawMessage(now)
		default:
			return nil, fmt.Sprintf("The policy wants this done with another %s, which can't be put in place here. It wants: %s", name, shorten.Bytes(asText(now), maxReason, "…"))
		}
	}
	if _, there := in.members.Get(e.Modify); !there && e.Modify != "" {
		now, _ := after.Get(e.Modify) // hooks may add a member that the agent omitted
		changed = json.RawMessage(now)
	}
	return changed, ""
}

// takes reports whether the agent applies a change of the member Modify.
func (e Event) takes(tool string, before, now jsontext.Value) bool {
	switch {
	case !e.AnyType && before.Kind() != now.Kind():
		return false
	case e.fits != nil && !e.fits(tool, before, now):
		return false
	case e.Merges && takesAway(before, now):
		return false
	case e.Text == "":
		return true
	}
	was, _ := events.ParseObject(before)
	is, _ := events.ParseObject(now)
	_, needed := was.GetString(e.Text)
	_, kept := is.GetString(e.Text)
	return kept || !needed
}

// same compares JSON values, ignoring whitespace and the order of members. It compares all digits
// of integers, even if a float can't represent them.
func same(a, b jsontext.Value) bool {
	if bytes.Equal(a, b) {
		return true
	}
	a, b = a.Clone(), b.Clone()
	exact := jsontext.CanonicalizeRawInts(false)
	return a.Canonicalize(exact) == nil && b.Canonicalize(exact) == nil && bytes.Equal(a, b)
}

// takesAway reports whether a top-level member of an object was removed, or either value is not an
// object. Agents merge at this level.
func takesAway(before, now jsontext.Value) bool {
	was, err1 := events.ParseObject(before)
	is, err2 := events.ParseObject(now)
	if err1 != nil || err2 != nil {
		return true
	}
	for name := range was.All() {
		if _, there := is.Get(name); !there {
			return true
		}
	}
	return false
}

// injected returns the context that hooks add. No agent supports roles for it, or adding it to a
// tool result.
func injected(v verdict.Verdict) string {
	var texts []string
	for _, m := range v.Messages {
		texts = append(texts, m.Content)
	}
	return paragraphs(texts...)
}

// decided returns messages for the user: how an approval request was answered, and warnings about
// context that the router withheld.
func decided(v verdict.Verdict) (list []verdict.Display) {
	if r := v.Approval; r != nil && !r.Cached && r.Option != "" {
		by := ""
		if r.DecidedBy != "" {
			by = " by " + r.DecidedBy
		}
		list = append(list, own(chain.LevelInfo, "answered%s: %s", by, r.Option))
	}
	for _, w := range v.Warnings {
		if w.Kind != verdict.Overridden {
			list = append(list, own(chain.LevelWarning, "context of %s: %s", w.Hook, strings.TrimSpace(w.Kind+" "+w.Detail)))
		}
	}
	return list
}
