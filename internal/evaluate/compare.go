package evaluate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/shorten"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// compare returns how a verdict differs from the expected one.
func compare(e *workerfile.Expect, v Verdict) (wrong []string) {
	if e == nil {
		return nil
	}
	differs := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if e.Action != "" && e.Action != v.Action {
		differs("action: want %s, got %s", e.Action, v.brief())
	}
	if e.By != "" && e.By != v.By {
		differs("by: want %s, got %s", e.By, cmp.Or(v.By, "nobody"))
	}
	for _, t := range []struct {
		name, got string
		want      *workerfile.Text
	}{{"reason", v.Reason, e.Reason}, {"inject", v.Inject, e.Inject}, {"ask", v.Ask, e.Ask}} {
		if t.want != nil && !holds(t.want, t.got) {
			differs("%s: want %s, got %q", t.name, describe(t.want), t.got)
		}
	}
	if want := events.UnionLabels(e.Labels, nil); e.Labels != nil && !slices.Equal(want, v.Labels) {
		differs("labels: want %s, got %s", labelsText(want), labelsText(v.Labels))
	}
	if e.UserMessage != nil {
		var said []string
		for _, h := range v.Hooks {
			if h.UserMessage != "" {
				said = append(said, h.UserMessage)
			}
		}
		if !slices.ContainsFunc(said, func(text string) bool { return holds(e.UserMessage, text) }) {
			differs("user_message: want %s, got %q", describe(e.UserMessage), said)
		}
	}
	missing := lacks("", json.RawMessage(e.Data), v.Data)
	for _, path := range slices.Sorted(maps.Keys(missing)) {
		differs("data: at %s want %s, got %s", path, missing[path].want, missing[path].got)
	}
	return append(wrong, compareHooks(e.Hooks, v.Hooks)...)
}

func labelsText(labels []string) string { return cmp.Or(strings.Join(labels, ", "), "none") }

func compareHooks(want map[string]workerfile.Effect, hooks []HookVerdict) (wrong []string) {
	did := map[string]HookVerdict{}
	for _, h := range hooks {
		did[h.ID] = h
	}
	for _, id := range slices.Sorted(maps.Keys(want)) {
		got, there := did[id]
		if !there { // the hook does not match the event
			got = HookVerdict{Effect: workerfile.Skipped, Why: "it does not want the event"}
		}
		if got.Effect != want[id] {
			wrong = append(wrong, fmt.Sprintf("hooks: want %s %s, got %s", id, want[id], got.describe()))
		}
	}
	return wrong
}

// describe summarizes what the hook did.
func (h HookVerdict) describe() string {
	said := slices.DeleteFunc([]string{string(h.Effect), h.Reason, h.Ask, h.Inject, string(h.Failure), h.Error}, func(text string) bool { return text == "" })
	text := strings.Join(said, ": ")
	if h.UserMessage != "" {
		text += "; tells the user: " + h.UserMessage
	}
	if h.Why != "" {
		text += " (" + h.Why + ")"
	}
	return text
}

// brief summarizes the verdict.
func (v Verdict) brief() string {
	text := string(v.Action)
	if v.By != "" {
		text += " by " + v.By
	}
	for _, more := range []string{v.Reason, v.Ask, v.Inject} {
		if more != "" {
			return text + ": " + more
		}
	}
	return text
}

func holds(t *workerfile.Text, text string) bool {
	if t.Is != nil {
		return *t.Is == text
	}
	return strings.Contains(text, t.Contains) && (t.Pattern == nil || t.Pattern.MatchString(text))
}

func describe(t *workerfile.Text) string {
	switch {
	case t.Is != nil:
		return fmt.Sprintf("%q", *t.Is)
	case t.Pattern == nil:
		return fmt.Sprintf("a text with %q", t.Contains)
	case t.Contains == "":
		return fmt.Sprintf("a text that matches %s", t.Matches)
	}
	return fmt.Sprintf("a text with %q that matches %s", t.Contains, t.Matches)
}

// lack is a mismatch between an expected and an actual value.
type lack struct{ want, got string }

// lacks returns the places where got does not match want. Objects in got may have additional
// members; lists are compared as a whole.
func lacks(at jsontext.Pointer, want, got json.RawMessage) map[string]lack {
	if want == nil {
		return nil
	}
	var members, there map[string]json.RawMessage
	if json.Unmarshal(want, &members) != nil || members == nil || json.Unmarshal(got, &there) != nil || there == nil {
		if same(want, got) {
			return nil
		}
		return map[string]lack{string(at): {short(want), short(got)}}
	}
	all := map[string]lack{}
	for name, value := range members {
		at := at.AppendToken(name)
		if have, ok := there[name]; ok {
			maps.Copy(all, lacks(at, value, have))
		} else {
			all[string(at)] = lack{short(value), "nothing"}
		}
	}
	return all
}

// short formats a value for a single line.
func short(raw json.RawMessage) string {
	return shorten.Runes(string(canonical(raw)), 200, "…")
}
