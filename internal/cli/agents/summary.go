package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/hookrouter/hookrouter/internal/cli/term"
)

// longDiff is the number of changed lines above which a change is summarized.
const longDiff = 8

// summary summarizes a change to hooks in a few lines: the events, the command, and that the rest
// stays. ok is false if the diff is clearer: it is short, or changes something other than hooks.
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
		if e := t.also; e.list != "" {
			fact("sets", fmt.Sprintf("%s, since %s", e.list, e.why))
		}
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

// line returns the command with EVENT in place of the event.
func (h hooks) line() string {
	words := append([]string{h.program}, h.args...)
	for i, word := range words {
		words[i] = quoted(word)
	}
	return strings.Join(append(words, h.target.dialect, "EVENT"), " ")
}

// rest returns the configuration without hook-agent's hooks, or nil if nothing else is in it.
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
