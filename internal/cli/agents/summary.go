package agents

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/hookrouter/hookrouter/internal/cli/term"
)

// longDiff is how many changed lines are too many to be read before an answer.
const longDiff = 8

// summary says in a few lines what a change of hooks does: at which events, with which command, and
// that the rest stays. It is false where the lines themselves say it better: they are few, or
// something else than hooks changes.
func (c change) summary(h hooks) (rows [][]term.Cell, ok bool) {
	t := h.target
	if t.toml || strings.Count(c.diff(), "\n") <= longDiff {
		return nil, false
	}
	if t.merge && !reflect.DeepEqual(c.rest(c.before, t), c.rest(c.after, t)) {
		return nil, false
	}
	was, is := commands(c.before, t), commands(c.after, t)
	if t.dialect != "opencode" && len(was)+len(is) == 0 {
		return nil, false
	}
	var gated, told []string
	for _, e := range t.events() {
		_, before := was[e.Native]
		_, after := is[e.Native]
		switch {
		case !before && !after && t.dialect != "opencode":
		case e.Gated():
			gated = append(gated, e.Native)
		default:
			told = append(told, e.Native)
		}
	}
	facts := term.Facts{}
	fact := func(head, text string) { facts.Add("  "+head, term.Printable(text), term.Plain) }
	if h.program == "" {
		fact("removes", "hook-agent from "+strings.Join(append(gated, told...), ", "))
	} else {
		fact("runs", h.line())
		fact("waits", "at most "+h.timeout.String()+" for an answer, people's included")
		fact("gates", strings.Join(gated, ", "))
		fact("also at", strings.Join(told, ", "))
	}
	switch {
	case !t.merge:
	case c.keep && c.original != nil:
		fact("stays", "everything else; a copy is kept in "+c.path+backup)
	case c.before != nil && c.after != nil:
		fact("stays", "everything else")
	}
	return facts, true
}

// line is the command of all events.
func (h hooks) line() string {
	words := append([]string{h.program}, h.args...)
	for i, word := range words {
		words[i] = quoted(word)
	}
	return strings.Join(append(words, h.target.dialect, "EVENT"), " ")
}

// rest is what a configuration says besides our hooks; nil for nothing.
func (c change) rest(settings []byte, t target) map[string]any {
	rest, err := remove(bytes.Clone(settings), t)
	if err == nil && !isBlank(rest) {
		rest, err = hujson.Standardize(rest)
	}
	var document map[string]any
	if err != nil || isBlank(rest) || json.Unmarshal(rest, &document) != nil {
		return nil
	}
	if hooks, is := document["hooks"].(map[string]any); is && len(hooks) == 0 {
		delete(document, "hooks")
	}
	if len(document) == 0 {
		return nil
	}
	return document
}
